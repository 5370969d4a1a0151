-- Double-entry books of every managed address. Postings state what the chain did, so they always succeed;
-- holds reserve what is about to leave, and only they can be refused.

create table tokens (
  id uuid primary key,
  blockchain text not null,
  name text not null,
  symbol text not null,
  decimals integer not null check (decimals between 0 and 77),
  is_native boolean not null,
  standard text,
  -- Lower case; null for the native coin.
  address text,
  -- The ISO 4217 code behind a stablecoin, null otherwise.
  currency text,
  create_date timestamptz(3) not null,
  unique nulls not distinct (blockchain, address)
);

-- kind `address`: what one managed address owns of one token. kind `outside`: the rest of the world,
-- one per entity and token. kind `fees`: what the chain kept. kind `difference`: found by reconciling.
create table accounts (
  entity_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('address', 'outside', 'fees', 'difference')),
  token_id uuid not null references tokens (id),
  blockchain text not null,
  address text not null default '',
  posted numeric(78, 0) not null default 0,
  held numeric(78, 0) not null default 0 check (held >= 0),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, token_id, kind, address)
);

-- A posting is one fact of the chain: its entries sum to zero.
create table postings (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  block_hash text not null,
  -- What the fact is, unique within its block, for example `log:12`, `value:0x…` or `fee:0x…`.
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

create table entries (
  entity_id uuid not null,
  posting_id uuid not null,
  account_id uuid not null,
  amount numeric(78, 0) not null check (amount <> 0),
  primary key (entity_id, posting_id, account_id),
  foreign key (entity_id, posting_id) references postings (entity_id, id),
  foreign key (entity_id, account_id) references accounts (entity_id, id)
);
create index entries_by_account on entries (entity_id, account_id);

-- A hold is resolved exactly once, posted or voided, by the primary key of its resolution.
create table holds (
  entity_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  -- The intent that holds, and what for: a transfer holds its `amount` and its `fee`.
  intent_id uuid not null,
  purpose text not null check (purpose in ('amount', 'fee')),
  amount numeric(78, 0) not null check (amount > 0),
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, account_id) references accounts (entity_id, id)
);
create index holds_by_intent on holds (entity_id, intent_id);

create table hold_resolutions (
  entity_id uuid not null,
  hold_id uuid not null,
  outcome text not null check (outcome in ('posted', 'voided')),
  create_date timestamptz(3) not null,
  primary key (entity_id, hold_id),
  foreign key (entity_id, hold_id) references holds (entity_id, id)
);

create trigger postings_append_only before update or delete on postings for each statement execute function refuse_change();
create trigger entries_append_only before update or delete on entries for each statement execute function refuse_change();
create trigger holds_append_only before update or delete on holds for each statement execute function refuse_change();
create trigger hold_resolutions_append_only before update or delete on hold_resolutions for each statement execute function refuse_change();

-- Cached balances follow the entries and holds in the statement that writes them; locks are taken in account order.
create function apply_entries() returns trigger language plpgsql as $$
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
    group by e.entity_id, e.posting_id, a.token_id having sum(e.amount) <> 0 limit 1;
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
    where p.written_by <> pg_current_xact_id()
  ) then
    raise exception 'entries are written with their posting' using errcode = 'check_violation';
  end if;
  return null;
end $$;
create trigger entries_own_tx after insert on entries referencing new table as added
  for each statement execute function entries_join_own_tx();

create function apply_holds() returns trigger language plpgsql as $$
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

create function apply_resolutions() returns trigger language plpgsql as $$
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
