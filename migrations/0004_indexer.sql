-- What the chains said, by block hash. Rows of an orphaned block stay and are marked; nothing is guessed away.

create table blocks (
  blockchain text not null,
  hash text not null,
  number bigint not null,
  parent_hash text not null,
  block_time timestamptz(3) not null,
  canonical boolean not null default true,
  primary key (blockchain, hash)
);
create unique index blocks_canonical on blocks (blockchain, number) where canonical;
-- How high the chain ever was: what decides which blocks are final.
create index blocks_by_number on blocks (blockchain, number);

-- The feed that engines above read: each applied or undone block is one step, numbered per chain without gaps.
create table block_steps (
  blockchain text not null,
  step bigint not null,
  kind text not null check (kind in ('applied', 'undone')),
  block_hash text not null,
  block_number bigint not null,
  -- Which blocks this step made final, as far as the chain's endpoints agree; none when `final_from` is the higher one.
  final_from bigint not null,
  final_to bigint not null,
  primary key (blockchain, step)
);

-- How far an engine has followed the feed of a chain.
create table step_cursors (
  engine text not null,
  blockchain text not null,
  step bigint not null,
  primary key (engine, blockchain)
);

-- A movement of a listed token or the native coin from or to a managed address, one row per managed side.
create table observed_transfers (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  tx_hash text not null,
  -- Position of the log in its block; -1 for the value of the transaction itself.
  log_index integer not null,
  direction text not null check (direction in ('in', 'out')),
  -- Of a listed token; the books refer to it by key, here a check for each row would only cost.
  token_id uuid not null,
  from_address text not null,
  to_address text not null,
  amount numeric(78, 0) not null check (amount >= 0),
  -- The managed side.
  address text not null,
  purpose text not null,
  owner_id uuid not null,
  block_time timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, block_hash, tx_hash, log_index, direction)
);
create index observed_transfers_by_block on observed_transfers (blockchain, block_hash);

-- A transaction sent by a managed address, with its outcome.
create table observed_transactions (
  entity_id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  tx_hash text not null,
  address text not null,
  nonce bigint not null,
  success boolean not null,
  gas_used numeric(78, 0) not null,
  fee numeric(78, 0) not null,
  block_time timestamptz(3) not null,
  primary key (entity_id, blockchain, block_hash, tx_hash)
);
create index observed_transactions_by_block on observed_transactions (blockchain, block_hash);
create index observed_transactions_by_nonce on observed_transactions (entity_id, blockchain, address, nonce);

-- Which process follows a chain. The lease saves work; what makes two followers harmless is the lock and the
-- parent check of every applied block.
create table chain_leases (
  blockchain text primary key,
  holder uuid not null,
  lease_until timestamptz not null
);
