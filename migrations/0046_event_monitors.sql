-- Monitors of the events of contracts, and their logs. The logs of a block are written with the block, and removed with it.

create table event_monitors (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  contract_address text not null,
  -- As the caller spelled it; the hash is that of the canonical form.
  event_signature text not null,
  event_signature_hash text not null,
  event_name text not null,
  -- The declared parameters; absent where neither the ABI nor the signature tells which of them topics hold.
  parameters jsonb,
  is_enabled boolean not null default true,
  -- The first block of the history that was asked for.
  from_block bigint,
  deleted_date timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create unique index event_monitors_once
  on event_monitors (entity_id, blockchain, contract_address, event_signature_hash) where deleted_date is null;
-- Not for the checks of foreign keys, which would read all monitors of an entity.
create index event_monitors_page on event_monitors (entity_id, create_date, id) where deleted_date is null;
create index event_monitors_enabled on event_monitors (blockchain, contract_address, event_signature_hash)
  where is_enabled and deleted_date is null;

create table event_logs (
  entity_id uuid not null,
  id uuid not null,
  monitor_id uuid not null,
  blockchain text not null,
  contract_address text not null,
  block_hash text not null,
  block_number bigint not null,
  block_time timestamptz(3) not null,
  tx_hash text not null,
  log_index integer not null,
  topics text[] not null,
  -- Absent where it is larger than a log may be here.
  data bytea,
  data_bytes integer not null,
  -- Set while the block is not in the chain.
  removed_date timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, monitor_id) references event_monitors (entity_id, id)
);
-- A log exists once for an entity, however often its block is read or applied.
create unique index event_logs_once on event_logs (entity_id, blockchain, block_hash, log_index);
create index event_logs_page on event_logs (entity_id, create_date, id);
create index event_logs_of_contract on event_logs (entity_id, contract_address, create_date, id);
create index event_logs_of_block on event_logs (blockchain, block_hash);
create trigger event_logs_date_later before update of update_date on event_logs
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- Ranges of blocks whose logs a monitor still has to read: the history before its first block, and blocks with more logs
-- than are written with a block. Removed when read.
create table event_histories (
  entity_id uuid not null,
  id uuid not null,
  monitor_id uuid not null,
  blockchain text not null,
  next_block bigint not null,
  -- The last block; absent until a worker has found the block at which the live side begins.
  to_block bigint,
  -- The time of the block before `next_block`, once that was read.
  reached_date timestamptz(3),
  -- The number of blocks that the next read asks for.
  span integer not null,
  lease_until timestamptz,
  fencing_token bigint not null default 0,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, monitor_id) references event_monitors (entity_id, id)
);
create index event_histories_open on event_histories (blockchain, entity_id, create_date);
create index event_histories_of_monitor on event_histories (entity_id, monitor_id);
