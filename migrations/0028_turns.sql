-- Tenants take turns at the queues that they share: a claim leaps from tenant to tenant, for which each queue has an
-- index on them, and what cannot move rests, so that it holds up nobody.

create table rests (
  entity_id uuid not null,
  queue text not null,
  -- Empty for a queue that has none.
  blockchain text not null,
  -- The name of the item in its queue: an id, or an address.
  key text not null,
  -- How it looked when it could not move; it does not rest once it looks different.
  seen text not null default '',
  -- When a worker may look at it again, in the time of the database.
  look_after timestamptz not null,
  primary key (entity_id, queue, blockchain, key)
);
create index rests_by_age on rests (look_after);

create index transactions_senders on transactions (blockchain, entity_id, address)
  where transaction_type = 'OUTBOUND' and state in ('INITIATED', 'CLEARED', 'QUEUED') and tx_hash is null;
drop index transactions_wanted;
create index transactions_wanted on transactions (blockchain, entity_id, address) where wanted is not null;
drop index transactions_unexplained;
create index transactions_unexplained on transactions (blockchain, entity_id)
  where state = 'FAILED' and error_reason = 'FAILED_ON_CHAIN' and error_details is null;
drop index attempts_in_flight;
create index attempts_in_flight on attempts (blockchain, entity_id, address, nonce) where state in ('signed', 'sent');
drop index attempts_rejected;
create index attempts_rejected on attempts (blockchain, entity_id, address, nonce) where state = 'rejected';

drop index payouts_waiting;
create index payouts_waiting on payouts (blockchain, entity_id, look_after, id)
  where status = 'pending' and not submitted;
drop index transfers_waiting;
create index transfers_waiting on transfers (blockchain, entity_id, look_after, id)
  where direction = 'out' and status = 'pending' and not submitted;
drop index refunds_waiting;
create index refunds_waiting on payments (blockchain, entity_id, look_after, id)
  where type = 'refund' and status = 'pending' and not submitted;
drop index payouts_under_way;
create index payouts_under_way on payouts (blockchain, entity_id) where status = 'pending' and submitted;
drop index transfers_under_way;
create index transfers_under_way on transfers (blockchain, entity_id)
  where direction = 'out' and status in ('pending', 'running') and submitted;
drop index refunds_under_way;
create index refunds_under_way on payments (blockchain, entity_id)
  where type = 'refund' and status = 'pending' and submitted;

drop index payment_intents_expiring;
create index payment_intents_expiring on payment_intents (entity_id, expires_on) where status = 'pending';
drop index fiat_deposits_open;
create index fiat_deposits_open on fiat_deposits (entity_id, create_date) where state in ('waiting', 'minting');
drop index recipients_to_review;
create index recipients_to_review on recipients (entity_id) where status = 'pending' and deleted_date is null;
drop index recipients_on_hold;
create index recipients_on_hold on recipients (entity_id, hold_until)
  where status = 'inactive' and deleted_date is null;
drop index recipient_addresses_to_verify;
create index recipient_addresses_to_verify on recipient_addresses (entity_id)
  where status = 'pending_verification' and not needs_identity and deleted_date is null;
drop index recipient_addresses_on_hold;
create index recipient_addresses_on_hold on recipient_addresses (entity_id, hold_until)
  where status = 'verification_succeeded' and deleted_date is null;

drop index notification_subscriptions_waking;
create index notification_subscriptions_waking on notification_subscriptions (entity_id, wake_date)
  where wake_date is not null;
