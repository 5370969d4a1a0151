-- Double-entry books of every managed address. Postings state what the chain did, so they always succeed;
-- holds reserve what is about to leave, and only they can be refused.

-- Listed tokens, native coins, and every ERC-20, ERC-721 and ERC-1155 that a managed wallet sends or receives. The balances of
-- listed tokens follow their transfers; those of others follow what the contract says of itself, since its logs may lie. An
-- item is one NFT of a contract: a row of its own, so that accounts and holds know it as they know a token.
create table tokens (
  id uuid primary key,
  blockchain text not null,
  name text not null,
  symbol text not null,
  decimals integer not null check (decimals between 0 and 77),
  -- False until a node has told them: such a token has no balances, and no request can name it.
  decimals_known boolean not null default true,
  is_native boolean not null,
  standard text,
  -- Lower case; null for the native coin.
  address text,
  -- The ISO 4217 code behind a stablecoin, null otherwise.
  currency text,
  listed boolean not null default true,
  -- Named like a listed token: never shown by default.
  look_alike boolean not null default false,
  -- The contract and the number of an item; null of a token.
  collection_id uuid references tokens (id),
  item_id numeric(78, 0),
  -- The address of the metadata of an item, as its contract tells it.
  uri text,
  create_date timestamptz(3) not null,
  constraint tokens_of_contract unique nulls not distinct (blockchain, address, item_id),
  constraint tokens_item_check check ((collection_id is null) = (item_id is null))
);
-- Listed tokens and native coins are few among those that strangers push to wallets.
create index tokens_listed on tokens (blockchain) where listed;
create index tokens_native on tokens (blockchain) where is_native;

-- Kinds that are booked in a token:
-- `address`: what one managed address owns of one token. `outside`: the rest of the world, one per entity and token.
-- `fees`: what the chain kept. `difference`: found by reconciling. `drift`: the other side of an address, where its balance in an
-- unlisted token is brought in line with what the contract says.
-- Kinds that are booked in a currency (docs/decisions/0013 says how both hang together): `wallet`: what a merchant owns, one wallet
-- per entity and one account per currency, whatever chains the coins lie on. `settlement`: its counterpart, what came in less what
-- went out. `unclaimed`: coins that a stranger sent to a treasury, which are on the chain, and no merchant was credited with them.
-- `adjustment`: in what it corrects, coins in their token, money in its currency.
create table accounts (
  entity_id uuid not null,
  id uuid not null,
  kind text not null check (kind in
    ('address', 'outside', 'fees', 'difference', 'drift', 'wallet', 'settlement', 'unclaimed', 'adjustment')),
  token_id uuid references tokens (id),
  currency text,
  blockchain text not null,
  address text not null default '',
  posted numeric(78, 0) not null default 0,
  held numeric(78, 0) not null default 0 check (held >= 0),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  constraint accounts_unit_check
    check ((token_id is null) = (currency is not null)
      and (kind = 'adjustment' or (kind in ('wallet', 'settlement', 'unclaimed')) = (token_id is null)))
);
-- PostgreSQL plans the check of a foreign key once per connection. Made while the table is small, when every column seems
-- to tell rows apart, the plan may take any index that begins with `entity_id`, and from then on each check reads all
-- rows of the entity. An index with a condition that such a check does not have is never taken for it.
create unique index accounts_of_currency on accounts (entity_id, currency, kind, address) where currency is not null;
-- Begins with the address: what addresses own is asked for more than what of one token is where.
create unique index accounts_of_token on accounts (entity_id, address, token_id, kind) where token_id is not null;
-- Operators list the accounts of their books, newest first. The condition is true of every account: it keeps the index away
-- from checks of foreign keys.
create index accounts_page on accounts (entity_id, create_date, id) where kind <> '';
-- Locking an account's row asks for the right to write one of its columns.
revoke update, delete on accounts from bezant_runtime;
grant update (update_date) on accounts to bezant_runtime;

-- A posting is one fact of the chain: its entries sum to zero.
create table postings (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  block_hash text not null,
  -- The name of the fact, unique within its block, for example `log:12:in:0x…`, `value:0:out:0x…` or `fee:0x…`.
  fact text not null,
  -- Set when the block was orphaned and this posting takes another one back.
  reverses_id uuid,
  -- The tx that wrote it: its entries come from the same one.
  written_by xid8 not null default pg_current_xact_id(),
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, reverses_id) references postings (entity_id, id)
);
-- Partial, so that no plan made while the table is small looks a posting up by its entity alone.
create unique index postings_reversed_once on postings (entity_id, reverses_id) where reverses_id is not null;
create index postings_by_block on postings (blockchain, block_hash);
-- An adjustment is booked once, and nothing else is booked against these accounts.
create unique index postings_adjusted_once on postings (entity_id, fact) where fact like 'adjustment:%';
create trigger postings_append_only before update or delete on postings for each statement execute function refuse_change();
revoke update, delete on postings from bezant_runtime;

-- Transfers that no worker has added to the flow yet. A queue, and no cursor over `written_by`: numbers of transactions begin anew
-- in a database that was exported and imported, and a row is there whenever its posting has committed, however late.
create table uncounted_flow (
  entity_id uuid not null,
  -- The posting.
  id uuid not null,
  primary key (entity_id, id)
);
revoke update on uncounted_flow from bezant_runtime;

-- Facts of transfers are named `kind:place:in|out:hash`. A transfer between two addresses of one entity is two facts of one place,
-- booked by one statement, and nothing came in or went out.
create function queue_flow() returns trigger language plpgsql as $$
begin
  insert into uncounted_flow (entity_id, id)
  with transfers as (
    select entity_id, id, block_hash, fact, split_part(fact, ':', -2) as direction from added
    where block_hash <> '' and fact ~ ':(in|out):[^:]+$'
  )
  select t.entity_id, t.id from transfers t
  where not exists (select 1 from transfers o where o.entity_id = t.entity_id and o.block_hash = t.block_hash
    and o.direction <> t.direction
    and regexp_replace(o.fact, ':(in|out):([^:]+)$', ':\2') = regexp_replace(t.fact, ':(in|out):([^:]+)$', ':\2'))
  order by t.entity_id, t.id;
  return null;
end $$;
create trigger postings_flow after insert on postings referencing new table as added
  for each statement execute function queue_flow();

-- The amounts that came in and went out of an entity in each five minutes of business time, in millionths of a currency.
create table flow_buckets (
  entity_id uuid not null,
  currency text not null,
  -- The beginning of the five minutes: a multiple of them in UTC.
  start_date timestamptz(3) not null,
  in_amount numeric(78, 0) not null,
  out_amount numeric(78, 0) not null,
  -- Number of transfers, less those that were taken back.
  transfer_count bigint not null,
  primary key (entity_id, currency, start_date)
);
revoke delete on flow_buckets from bezant_runtime;

create table entries (
  entity_id uuid not null,
  posting_id uuid not null,
  account_id uuid not null,
  amount numeric(78, 0) not null check (amount <> 0),
  -- That of the posting: operators read the entries of one account, newest first, and an account that all customers share
  -- has millions of them, which an index keeps in that order.
  create_date timestamptz(3) not null,
  primary key (entity_id, posting_id, account_id),
  foreign key (entity_id, posting_id) references postings (entity_id, id),
  foreign key (entity_id, account_id) references accounts (entity_id, id)
);
create index entries_of_account on entries (entity_id, account_id, create_date, posting_id);
create trigger entries_append_only before update or delete on entries for each statement execute function refuse_change();

-- Cached balances follow the entries and holds in the statement that writes them; locks are taken in account order. They are
-- written by these triggers alone, which have the rights of the owner.
create function apply_entries() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  perform 1 from accounts a where (a.entity_id, a.id) in (select entity_id, account_id from added)
    order by a.entity_id, a.id for no key update;
  update accounts a set posted = a.posted + sums.amount, update_date = greatest(a.update_date, sums.at)
    from (
      select e.entity_id, e.account_id, sum(e.amount) as amount, max(p.create_date) as at
      from added e join postings p on p.entity_id = e.entity_id and p.id = e.posting_id group by 1, 2
    ) sums
    where a.entity_id = sums.entity_id and a.id = sums.account_id;
  return null;
end $$;
create trigger entries_apply after insert on entries referencing new table as added
  for each statement execute function apply_entries();

-- A statement brings whole postings: what it adds to each sums to zero, and so does every posting at any moment.
create function check_zero_sum() returns trigger language plpgsql as $$
declare
  unbalanced uuid;
begin
  select e.posting_id into unbalanced
    from added e join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
    group by e.entity_id, e.posting_id, a.token_id, a.currency having sum(e.amount) <> 0 limit 1;
  if unbalanced is not null then
    raise exception 'the entries of posting % do not sum to zero', unbalanced
      using errcode = 'check_violation', constraint = 'entries_zero_sum';
  end if;
  return null;
end $$;
create trigger entries_zero_sum after insert on entries referencing new table as added
  for each statement execute function check_zero_sum();

create function entries_join_own_tx() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from added e join postings p on p.entity_id = e.entity_id and p.id = e.posting_id
    where p.written_by <> pg_current_xact_id() or p.create_date <> e.create_date
  ) then
    raise exception 'entries are written with their posting, and have its date' using errcode = 'check_violation';
  end if;
  return null;
end $$;
create trigger entries_own_tx after insert on entries referencing new table as added
  for each statement execute function entries_join_own_tx();

create function check_adjustments() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from added e join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
    where a.kind = 'adjustment' and not exists (
      select 1 from postings p join adjustments j on j.entity_id = p.entity_id and p.fact = 'adjustment:' || j.id
      where p.entity_id = e.entity_id and p.id = e.posting_id)
  ) then
    raise exception 'what is booked as an adjustment has a name and a reason'
      using errcode = 'check_violation', constraint = 'entries_adjusted_by_name';
  end if;
  return null;
end $$;
create trigger entries_adjusted_by_name after insert on entries referencing new table as added
  for each statement execute function check_adjustments();
revoke update, delete on entries from bezant_runtime;

-- A hold is resolved exactly once, posted or voided, by the primary key of its resolution.
create table holds (
  entity_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  -- The intent that holds, and what for: a transfer holds its `amount` and its `fee`. `money` of a merchant's wallet is held for a
  -- payout or transfer, whose transaction has the same id and holds coins apart from it. `review`: an operator has to decide.
  intent_id uuid not null,
  purpose text not null check (purpose in ('amount', 'fee', 'money', 'review')),
  amount numeric(78, 0) not null check (amount > 0),
  -- Holds of unlisted tokens end when the contract was asked for the balance after the transfer, not with its block.
  of_unlisted boolean not null default false,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, account_id) references accounts (entity_id, id)
);
create index holds_by_intent on holds (entity_id, intent_id);
create index holds_of_unlisted on holds (entity_id, account_id) where of_unlisted;
create trigger holds_append_only before update or delete on holds for each statement execute function refuse_change();

-- As the entries, under the rights of the owner.
create function apply_holds() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  perform 1 from accounts a where (a.entity_id, a.id) in (select entity_id, account_id from added)
    order by a.entity_id, a.id for no key update;
  update accounts a set held = a.held + sums.amount
    from (select entity_id, account_id, sum(amount) as amount from added group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.account_id;
  -- A hold made again after a reorg must not fail: what it holds has left before and may leave again.
  if current_setting('bezant.hold_regardless', true) is distinct from 'on' and exists (
    select 1 from accounts a where (a.entity_id, a.id) in (select entity_id, account_id from added)
      and a.posted - a.held < 0
  ) then
    raise exception 'a hold exceeds what the account has' using errcode = 'check_violation', constraint = 'holds_covered';
  end if;
  return null;
end $$;
create trigger holds_apply after insert on holds referencing new table as added
  for each statement execute function apply_holds();
revoke update, delete on holds from bezant_runtime;

create table hold_resolutions (
  entity_id uuid not null,
  hold_id uuid not null,
  outcome text not null check (outcome in ('posted', 'voided')),
  create_date timestamptz(3) not null,
  primary key (entity_id, hold_id),
  foreign key (entity_id, hold_id) references holds (entity_id, id)
);
create trigger hold_resolutions_append_only before update or delete on hold_resolutions
  for each statement execute function refuse_change();

-- As the entries, under the rights of the owner.
create function apply_resolutions() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  perform 1 from accounts a where (a.entity_id, a.id) in (
    select h.entity_id, h.account_id from added r join holds h on h.entity_id = r.entity_id and h.id = r.hold_id)
    order by a.entity_id, a.id for no key update;
  update accounts a set held = a.held - sums.amount
    from (select h.entity_id, h.account_id, sum(h.amount) as amount
      from added r join holds h on h.entity_id = r.entity_id and h.id = r.hold_id group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.account_id;
  return null;
end $$;
create trigger hold_resolutions_apply after insert on hold_resolutions referencing new table as added
  for each statement execute function apply_resolutions();
revoke update, delete on hold_resolutions from bezant_runtime;

-- Views by which others read the books.

-- The stablecoins that open holds reserve.
create view held_coins as
  select h.entity_id, h.intent_id, t.currency, h.amount
  from holds h join accounts a on a.entity_id = h.entity_id and a.id = h.account_id
  join tokens t on t.id = a.token_id and t.currency is not null
  where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id);

-- For comparisons with the chain: what each posting put into an account, and by which block.
create view posted_entries as
  select e.entity_id, e.account_id, p.blockchain, p.block_hash, e.amount
  from entries e join postings p on p.entity_id = e.entity_id and p.id = e.posting_id;

create view address_accounts as
  select entity_id, id, blockchain, address, token_id, posted from accounts where kind = 'address' and token_id is not null;

-- The money of merchants by the books, and the coins that stand behind it.
create view wallet_accounts as
  select entity_id, currency, address as wallet_id, posted, held from accounts where kind = 'wallet';

create view coin_accounts as
  select a.entity_id, a.blockchain, a.address, t.currency, a.posted
  from accounts a join tokens t on t.id = a.token_id where a.kind = 'address' and t.currency is not null;

create view unclaimed_accounts as
  select entity_id, currency, address, posted from accounts where kind = 'unclaimed';

create view adjusted_accounts as
  select entity_id, currency, posted from accounts where kind = 'adjustment' and currency is not null;
