-- Filters of lists that had no index: a page by a rare value read all rows of the tenant.
-- Serves both columns: a list by one of them merges the two values of the other.
create index transactions_by_kind on transactions (entity_id, transaction_type, custody_type, create_date, id)
  where wallet_id is not null and not unproven;
create index transactions_by_operation on transactions (entity_id, operation, create_date, id)
  where wallet_id is not null and not unproven;
create index payouts_by_currency on payouts (entity_id, currency, create_date, id);
create index transfers_by_direction on transfers (entity_id, direction, create_date, id);
create index payment_intents_by_context on payment_intents (entity_id, context, create_date, id) where context is not null;
create index event_logs_by_blockchain on event_logs (entity_id, blockchain, create_date, id);
create index screenings_by_chain on screenings (entity_id, chain, create_date, id);
create index screenings_by_result on screenings (entity_id, result, create_date, id);
drop index screenings_denied;
create index notifications_by_topic on notifications (entity_id, topic, create_date, id);
create index redemptions_by_blockchain on redemptions (entity_id, blockchain, create_date, id);
create index accounts_by_address on accounts (entity_id, address, create_date, id) where kind <> '';
create index accounts_by_kind on accounts (entity_id, kind, create_date, id) where kind <> '';
create index accounts_by_blockchain on accounts (entity_id, blockchain, create_date, id) where kind <> '';
create index accounts_by_token on accounts (entity_id, token_id, create_date, id) where kind <> '';

-- A statement that is planned for any value of these columns has to find a rare one by its index, which is in the order of the page:
-- where all rows have one of a few values, the planner would rather read the table in that order until it finds some.
alter table transactions alter column wallet_id set (n_distinct = -0.05);
alter table transactions alter column user_id set (n_distinct = -0.05);
alter table transactions alter column source_address set (n_distinct = -0.05);
alter table transactions alter column destination_address set (n_distinct = -0.05);
alter table events alter column type set (n_distinct = -0.05);
alter table audit alter column actor set (n_distinct = -0.05);
alter table notifications alter column topic set (n_distinct = -0.05);
alter table requests alter column method set (n_distinct = -0.05);
alter table requests alter column route set (n_distinct = -0.05);
alter table requests alter column status set (n_distinct = -0.05);
alter table requests alter column api_key_id set (n_distinct = -0.05);
alter table payments alter column payment_intent_id set (n_distinct = -0.05);
alter table payouts alter column recipient_id set (n_distinct = -0.05);
alter table event_logs alter column contract_address set (n_distinct = -0.05);
alter table screenings alter column canonical_address set (n_distinct = -0.05);
alter table policy_decisions alter column wallet_id set (n_distinct = -0.05);
alter table challenges alter column user_id set (n_distinct = -0.05);
alter table user_operations alter column sender set (n_distinct = -0.05);
alter table modular_transfers alter column wallet_address set (n_distinct = -0.05);
alter table redemptions alter column bank_account_id set (n_distinct = -0.05);
alter table accounts alter column blockchain set (n_distinct = -0.05);
alter table accounts alter column token_id set (n_distinct = -0.05);
-- An empty table stays as it is: the planner would take it for one that stays empty.
do $$
declare
  name text;
  is_filled boolean;
begin
  foreach name in array array['transactions', 'events', 'audit', 'notifications', 'requests', 'payments', 'payouts', 'event_logs',
    'screenings', 'policy_decisions', 'challenges', 'user_operations', 'modular_transfers', 'redemptions', 'accounts'] loop
    execute format('select exists (select 1 from %I)', name) into is_filled;
    if is_filled then execute format('analyze %I', name); end if;
  end loop;
end $$;
