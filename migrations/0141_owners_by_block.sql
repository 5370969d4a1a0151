-- Wallets of one owner are listed in the order in which blocks gave them the owner, since blocks may share a second.

-- The owners that accounts got in blocks, by the hash of the block.
create table observed_owners (
  entity_id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  log_index integer not null,
  account text not null,
  owner_ids text[] not null,
  primary key (entity_id, blockchain, block_hash, log_index)
);
create index observed_owners_by_block on observed_owners (blockchain, block_hash);

alter table owner_mappings
  -- The block that gave the wallet the owner, and its log; 0 of a mapping from before blocks were noted.
  add column bound_block bigint,
  add column bound_log integer,
  add column bound_hash text,
  -- Whether the wallet was made for this owner alone, and so has it without a block.
  add column is_sole boolean not null default false;
update owner_mappings set bound_block = 0, bound_log = 0 where bound_date is not null;

drop index owner_mappings_bound;
create index owner_mappings_bound on owner_mappings (entity_id, blockchain, owner, bound_block, bound_log, bound_date, id)
  where bound_date is not null;
create index owner_mappings_of_block on owner_mappings (blockchain, bound_hash) where bound_hash is not null;
