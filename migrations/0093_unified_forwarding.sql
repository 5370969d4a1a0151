-- The treasury's transaction that mints a forwarded transfer, and the entity that pays it.
alter table unified_transfers add column forward_id uuid, add column forward_entity_id uuid;
create index unified_transfers_to_forward on unified_transfers (blockchain, create_date)
  where forwarded and forward_id is null and state = 'pending';
create index unified_transfers_forwarding on unified_transfers (blockchain, create_date)
  where forward_id is not null and failure_reason is null and state = 'pending';
