-- The coins that an address held before it was followed. Its books and its chain are compared from the block on at which they were
-- booked. A row ends when that block is final.
create table opening_balances (
  entity_id uuid not null,
  blockchain text not null,
  address text not null,
  -- The block at whose end they were booked; null while they are not.
  block_number bigint,
  block_hash text,
  -- Since when they wait to be booked, the last time.
  start_date timestamptz(3) not null,
  primary key (entity_id, blockchain, address),
  foreign key (entity_id, blockchain, address) references managed_addresses (entity_id, blockchain, address),
  check ((block_number is null) = (block_hash is null))
);
create index opening_balances_by_address on opening_balances (blockchain, address);
create index opening_balances_by_block on opening_balances (blockchain, block_number);
