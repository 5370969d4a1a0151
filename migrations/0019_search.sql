-- The search of operators: one word, looked up as a whole, or as the beginning of an id or a hash, by indexes alone.

-- The rows that are found by id, and by what else the word may be; the label is what an operator knows them by.
create view searched_wallets as
  select entity_id, id, coalesce(name, address) || ' on ' || blockchain as label, address, ref_id, create_date from wallets;
create view searched_wallet_sets as
  select entity_id, id, coalesce(name, 'wallet set of a user') as label, create_date from wallet_sets;
create view searched_modular_wallets as
  select entity_id, id, coalesce(name, address) || ' on ' || blockchain as label, address, create_date from modular_wallets;
create view searched_contracts as
  select entity_id, id, name || ' on ' || blockchain as label, address, create_date from contracts;
create view searched_payment_intents as
  select entity_id, id, type || ' ' || currency || ', ' || status as label, create_date from payment_intents;
create view searched_deposit_addresses as
  select entity_id, payment_intent_id as id, address || ' on ' || blockchain as label, address, create_date
  from deposit_addresses where payment_intent_id is not null;
create view searched_recipients as
  select entity_id, id, coalesce(nickname, address) as label, address, create_date from recipients where deleted_date is null;
create view searched_accounts as
  select entity_id, id, kind || case when address = '' then '' else ' ' || address end as label, create_date
  from accounts where kind <> '';
create view searched_subscriptions as
  select entity_id, id, line, split_part(split_part(split_part(endpoint, '://', 2), '?', 1), '@', -1) as label, create_date
  from notification_subscriptions where removed_date is null;
create view searched_notifications as
  select entity_id, id, topic as label, create_date from notifications;
create view searched_requests as
  select entity_id, id, method || ' ' || route || ': ' || status as label, request_id, idempotency_key, create_date from requests;

-- Other names of resources: the keys of the requests that made them, and the hashes of all attempts of a transaction.
create view searched_idempotency_keys as
  select entity_id, key, resource_id from idempotency_keys where resource_id is not null;
create view searched_attempts as
  select entity_id, blockchain, tx_hash, transaction_id from attempts;

create index idempotency_keys_by_key on idempotency_keys (entity_id, key);
create index contracts_by_address on contracts (entity_id, address) where address is not null;
create index modular_wallets_by_address on modular_wallets (entity_id, address);
create index deposit_addresses_by_address on deposit_addresses (entity_id, address) where payment_intent_id is not null;
create index transactions_by_ref on transactions (entity_id, ref_id, create_date, id)
  where ref_id <> '' and wallet_id is not null and not unproven;

-- Movements of one amount. Transactions have it as their owner wrote it, which may end with zeros.
create index transactions_by_amount on transactions (entity_id, ((amounts[1])::numeric), create_date, id)
  where amounts[1] ~ '^[0-9]{1,78}([.][0-9]{1,77})?$' and wallet_id is not null and not unproven;
create index payments_by_amount on payments (entity_id, amount, create_date, id);
create index payouts_by_amount on payouts (entity_id, amount, create_date, id);
create index transfers_by_amount on transfers (entity_id, amount, create_date, id);
create index fiat_deposits_by_amount on fiat_deposits (entity_id, amount, create_date, id);
create index sweeps_by_amount on sweeps (entity_id, amount, create_date, id);
create index modular_transfers_by_amount on modular_transfers (entity_id, amount, create_date, id);
