-- Filters of lists that read all rows of a tenant. These tables have a row for each act of a person, so that an index costs next to nothing.
create index reviews_by_state on reviews (entity_id, state, create_date, id);
drop index reviews_pending;
create index payout_batches_by_state on payout_batches (entity_id, state, create_date, id) where row_count > 0;
create index contracts_by_blockchain on contracts (entity_id, blockchain, create_date, id);
create index contracts_by_type on contracts (entity_id, input_type, create_date, id);
create index contracts_by_name on contracts (entity_id, name, create_date, id);
create index event_monitors_by_blockchain on event_monitors (entity_id, blockchain, create_date, id) where deleted_date is null;
create index event_monitors_by_contract on event_monitors (entity_id, contract_address, create_date, id) where deleted_date is null;
create index event_monitors_by_event on event_monitors (entity_id, event_signature_hash, create_date, id) where deleted_date is null;
create index redemptions_by_hash on redemptions (entity_id, transaction_hash) where transaction_hash is not null;
create index fiat_deposits_of_senders on fiat_deposits (entity_id, create_date, id) where redemption_id is null;
-- Open gaps are listed in the order of their records, whose ids begin with their dates.
create index open_gaps_by_record on open_gaps (entity_id, gap_id);

-- A statement that is planned for any subscription has to find a rare one by the index that begins with it, which is in the order of the
-- page: where all rows have one of a few values, the planner would rather read all deliveries in that order until it finds some.
alter table notification_deliveries alter column subscription_id set (n_distinct = -0.05);
-- An empty table stays as it is: the planner would take it for one that stays empty.
do $$
begin
  if exists (select 1 from notification_deliveries) then analyze notification_deliveries; end if;
end $$;
