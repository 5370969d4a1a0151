-- Movements: everything that moves money of an entity, in one list, and the timeline of each.

-- Business time of a sandbox leaps and stands still. What happened when, and how long it took, is told by the clock of the database;
-- rows of earlier versions have the creation date alone.
alter table events add column recorded_at timestamptz(3);
alter table events alter column recorded_at set default clock_timestamp();
alter table idempotency_keys add column recorded_at timestamptz(3);
alter table idempotency_keys alter column recorded_at set default clock_timestamp();
alter table policy_decisions add column recorded_at timestamptz(3);
alter table policy_decisions alter column recorded_at set default clock_timestamp();
alter table holds add column recorded_at timestamptz(3);
alter table holds alter column recorded_at set default clock_timestamp();
alter table hold_resolutions add column recorded_at timestamptz(3);
alter table hold_resolutions alter column recorded_at set default clock_timestamp();
alter table postings add column recorded_at timestamptz(3);
alter table postings alter column recorded_at set default clock_timestamp();
alter table attempts add column recorded_at timestamptz(3);
alter table attempts alter column recorded_at set default clock_timestamp();
-- When a node took it first.
alter table attempts add column accepted_at timestamptz(3);
grant update (accepted_at) on attempts to bezant_runtime;
alter table notification_attempts add column recorded_at timestamptz(3);
alter table notification_attempts alter column recorded_at set default clock_timestamp();
alter table block_steps add column recorded_at timestamptz(3);
alter table block_steps alter column recorded_at set default clock_timestamp();

-- Readers follow the events of an entity in the order of its audit trail: no event is added before one that has a link.
create or replace view audit_entries as
  select a.entity_id, a.id, a.actor, a.action, a.resource_id, a.request_id,
    to_char(a.create_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as create_date,
    e.type as event_type, e.resource_id as event_resource_id, e.data::text as data,
    to_char(e.create_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as event_date,
    coalesce(e.recorded_at, e.create_date) as recorded_at
  from audit a left join events e on e.entity_id = a.entity_id and e.id = a.id;

-- The rows of one movement.
create index events_of_resource on events (entity_id, resource_id, id);
create index events_of_type on events (entity_id, type, id);
create index block_steps_of_block on block_steps (blockchain, block_hash);
create index observed_transfers_by_tx on observed_transfers (entity_id, tx_hash);
-- The condition keeps the facts of blocks out: they are found by their block.
create index postings_of_money on postings (entity_id, fact) where block_hash = '';

-- The list by state: what is complete is nearly everything, and read by date.
create index transfers_unfinished on transfers (entity_id, status, create_date, id) where status <> 'complete';
create index sweeps_unfinished on sweeps (entity_id, status, create_date, id) where status <> 'complete';
create index fiat_deposits_unfinished on fiat_deposits (entity_id, state, create_date, id) where state <> 'complete';
create index user_operations_unfinished on user_operations (entity_id, state, create_date, id) where state <> 'COMPLETE';
create index modular_transfers_unfinished on modular_transfers (entity_id, state, create_date, id) where state <> 'COMPLETE';

-- The list by kind, blockchain, wallet, address and transaction hash, where no list of the public interface has an index for it.
create index sweeps_page on sweeps (entity_id, create_date, id);
create index payments_refunds on payments (entity_id, create_date, id) where type = 'refund';
create index payments_by_blockchain on payments (entity_id, blockchain, create_date, id);
create index payouts_by_blockchain on payouts (entity_id, blockchain, create_date, id);
create index transfers_by_blockchain on transfers (entity_id, blockchain, create_date, id);
create index fiat_deposits_by_blockchain on fiat_deposits (entity_id, blockchain, create_date, id);
create index sweeps_by_blockchain on sweeps (entity_id, blockchain, create_date, id);
create index user_operations_by_blockchain on user_operations (entity_id, blockchain, create_date, id);
create index modular_transfers_by_blockchain on modular_transfers (entity_id, blockchain, create_date, id);
create index user_operations_by_wallet on user_operations (entity_id, wallet_id, create_date, id);
create index modular_transfers_of_wallet on modular_transfers (entity_id, wallet_id, create_date, id);
create index transactions_by_source on transactions (entity_id, source_address, create_date, id)
  where wallet_id is not null and not unproven;
create index payments_by_address on payments (entity_id, deposit_address, create_date, id);
create index payments_by_source on payments (entity_id, from_address, create_date, id) where from_address is not null;
create index payouts_by_address on payouts (entity_id, to_address, create_date, id);
create index transfers_by_address on transfers (entity_id, to_address, create_date, id);
create index transfers_by_source on transfers (entity_id, from_address, create_date, id) where from_address is not null;
create index sweeps_by_source on sweeps (entity_id, from_address, create_date, id);
create index user_operations_by_sender on user_operations (entity_id, sender, create_date, id);
create index modular_transfers_by_destination on modular_transfers (entity_id, to_address, create_date, id);
create index modular_transfers_by_source on modular_transfers (entity_id, from_address, create_date, id);
create index payments_by_hash on payments (entity_id, transaction_hash) where transaction_hash is not null;
create index payouts_by_hash on payouts (entity_id, transaction_hash) where transaction_hash is not null;
create index transfers_by_hash on transfers (entity_id, transaction_hash) where transaction_hash is not null;
create index fiat_deposits_by_hash on fiat_deposits (entity_id, transaction_hash) where transaction_hash is not null;
create index user_operations_by_hash on user_operations (entity_id, tx_hash) where tx_hash is not null;
create index modular_transfers_by_hash on modular_transfers (entity_id, tx_hash);
