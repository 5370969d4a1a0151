-- The logs of the contracts of cross-chain messages and unified balances, by the hash of their block. They belong to no entity.
create table observed_crosschain_events (
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  log_index integer not null,
  tx_hash text not null,
  kind text not null,
  -- The other fields of the event; amounts are decimal strings.
  fields jsonb not null,
  block_time timestamptz(3) not null,
  primary key (blockchain, block_hash, log_index)
);
