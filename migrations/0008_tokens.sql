-- Facts about tokens of any contract besides their rows in the books, and which ones an entity wants to see.

-- The balances that are compared with the contract when they are due: of one wallet in one token or item.
create table token_checks (
  entity_id uuid not null,
  token_id uuid not null references tokens (id),
  address text not null,
  blockchain text not null,
  due_at timestamptz not null,
  -- Since when the balance has not changed, or could not be read: the longer, the later the next comparison.
  since timestamptz not null,
  -- The block of the latest comparison.
  block_number bigint not null default -1,
  -- How much of the rise no transfer was proven by yet, where more transfers wait for a decision.
  risen numeric(78, 0) not null default 0 check (risen >= 0),
  primary key (entity_id, token_id, address)
);
-- A balance of zero without a hold is due at its next transfer only.
create index token_checks_due on token_checks (blockchain, entity_id, due_at) where due_at < 'infinity';
create index token_checks_of_wallet on token_checks (entity_id, blockchain, address);
-- Few balances have a part of their rise left; a reorg finds them.
create index token_checks_risen on token_checks (blockchain) where risen > 0;

-- The metadata of NFTs, where a setting lets the server fetch it.
create table item_metadata (
  token_id uuid primary key references tokens (id),
  -- The address that it was fetched from; another one makes it outdated.
  uri text not null,
  -- Compact JSON; null while none was fetched.
  content text,
  failure_count integer not null default 0,
  -- When it may be fetched again.
  due_at timestamptz not null
);

-- Which tokens an entity wants to see by default. Without a row here: all of them.
create table monitored_token_scopes (
  entity_id uuid primary key references entities (id),
  scope text not null check (scope in ('SELECTED', 'MONITOR_ALL')),
  update_date timestamptz(3) not null
);

create table monitored_tokens (
  entity_id uuid not null references entities (id),
  token_id uuid not null references tokens (id),
  create_date timestamptz(3) not null,
  primary key (entity_id, token_id)
);

-- Lists of balances and transactions omit the tokens that an entity excluded by selecting others, and for all entities those that
-- are named like a listed token.
create view hidden_tokens as
  select s.entity_id, t.id as token_id
  from monitored_token_scopes s cross join tokens t
  where s.scope = 'SELECTED' and not exists (select 1 from monitored_tokens m
    where m.entity_id = s.entity_id and m.token_id = coalesce(t.collection_id, t.id))
  union all
  select e.id, t.id from entities e cross join tokens t where t.look_alike;
