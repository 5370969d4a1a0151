-- Unified balances: USDC that depositors hold in the wallet contracts of several chains. They belong to no entity.

-- The balance of a depositor on one chain as this service counts it, in base units. `overdrawn` is what the chain took beyond
-- the available amount, such as a withdrawal of what an attested transfer reserves: no transfer ever takes beyond it.
create table unified_balances (
  blockchain text not null,
  depositor text not null,
  available numeric(78, 0) not null default 0 check (available >= 0),
  overdrawn numeric(78, 0) not null default 0 check (overdrawn >= 0),
  primary key (blockchain, depositor),
  check (available = 0 or overdrawn = 0)
);
revoke delete on unified_balances from bezant_runtime;

-- The events of wallet contracts in blocks that count now; rows of orphaned blocks are deleted, and taken back.
create table unified_movements (
  blockchain text not null,
  block_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  block_time timestamptz(3) not null,
  tx_hash text not null,
  kind text not null check (kind in ('deposited', 'withdrawalInitiated', 'withdrawalCompleted', 'burned')),
  depositor text not null,
  -- Of a burn: the value and the fee.
  amount numeric(78, 0) not null,
  fee numeric(78, 0) not null default 0,
  -- The part of a burn that came out of the withdrawing balance.
  from_withdrawing numeric(78, 0) not null default 0,
  spec_hash text,
  -- The amount by which the row changed the balance; null while a deposit or a burn waits for finality.
  counted numeric(79, 0),
  -- The account whose coins a deposit took, where it is not the depositor.
  sender text,
  -- When screening last kept the deposit from being counted.
  held_date timestamptz(3),
  primary key (blockchain, block_hash, log_index)
);
create index unified_movements_waiting on unified_movements (blockchain, block_number) where counted is null;
create index unified_movements_pending on unified_movements (depositor, blockchain) where kind = 'deposited' and counted is null;
create index unified_movements_of_specs on unified_movements (spec_hash) where spec_hash is not null;
create index unified_movements_held on unified_movements (blockchain, held_date) where counted is null and held_date is not null;

-- Delegates that were added or removed. An addition counts when its block is final, a removal at once.
create table unified_delegations (
  blockchain text not null,
  block_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  depositor text not null,
  delegate text not null,
  added boolean not null,
  primary key (blockchain, block_hash, log_index)
);
create index unified_delegations_of_depositors on unified_delegations (blockchain, depositor, delegate, block_number, log_index);

-- The heights that the engine has counted, per chain.
create table unified_heights (
  blockchain text primary key,
  -- The last block that was followed, and the last one whose deposits and delegates count.
  followed bigint not null,
  final bigint not null
);

-- Transfers out of unified balances: attested for good by the `tx` that records and reserves them.
create table unified_transfers (
  id uuid primary key,
  -- Hash of what was signed, in any order, so that a repeated request gets the same answer.
  fingerprint bytea not null unique check (octet_length(fingerprint) = 32),
  state text not null check (state in ('pending', 'confirmed', 'finalized', 'failed', 'expired')),
  blockchain text not null,
  -- Encoded attestation (set) and the signature of the service.
  payload bytea not null,
  -- Made last, in the `tx` that inserts the row.
  signature bytea check (octet_length(signature) = 65),
  -- The last block of the destination in which it can be minted.
  expiration_block bigint not null,
  -- As text, so that a repeated request is answered with the same bytes.
  fees json not null,
  -- In base units: all values together.
  value numeric(78, 0) not null,
  forwarded boolean not null,
  failure_reason text,
  mint_tx_hash text,
  -- The treasury's transaction that mints a forwarded transfer, and the entity that pays it.
  forward_id uuid,
  forward_entity_id uuid,
  -- The gas that the mint needs and the fee that pays for it; one that costs more than its fee covers waits, and tells so.
  forward_gas bigint,
  forward_fee numeric(78, 0),
  forward_delay text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null
);
create index unified_transfers_open on unified_transfers (blockchain, expiration_block) where state in ('pending', 'confirmed');
create index unified_transfers_by_date on unified_transfers (blockchain, create_date);
create index unified_transfers_to_forward on unified_transfers (blockchain, create_date)
  where forwarded and forward_id is null and state = 'pending';
create index unified_transfers_forwarding on unified_transfers (blockchain, create_date)
  where forward_id is not null and failure_reason is null and state = 'pending';
revoke delete on unified_transfers from bezant_runtime;

-- The transfers from and to addresses of entities, as movements: one row for each entity that pays or receives. A transfer itself
-- belongs to none.
create table entity_unified_transfers (
  entity_id uuid not null,
  -- That of the transfer.
  id uuid not null references unified_transfers (id),
  direction text not null check (direction in ('in', 'out', 'internal')),
  -- Follows the transfer by a trigger, as does the hash of its mint.
  state text not null,
  -- The destination.
  blockchain text not null,
  token_id uuid not null,
  -- The part that comes from addresses of the entity, or all that it receives.
  amount numeric(78, 0) not null,
  from_address text not null,
  to_address text not null,
  mint_tx_hash text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index entity_unified_transfers_page on entity_unified_transfers (entity_id, create_date, id);
create index entity_unified_transfers_unfinished on entity_unified_transfers (entity_id, state, create_date, id) where state <> 'finalized';
create index entity_unified_transfers_by_blockchain on entity_unified_transfers (entity_id, blockchain, create_date, id);
create index entity_unified_transfers_by_source on entity_unified_transfers (entity_id, from_address, create_date, id);
create index entity_unified_transfers_by_destination on entity_unified_transfers (entity_id, to_address, create_date, id);
create index entity_unified_transfers_by_amount on entity_unified_transfers (entity_id, amount, create_date, id);
create index entity_unified_transfers_by_id on entity_unified_transfers (id);
create index entity_unified_transfers_by_hash on entity_unified_transfers (entity_id, mint_tx_hash) where mint_tx_hash is not null;
revoke delete on entity_unified_transfers from bezant_runtime;

create function follow_unified_transfer() returns trigger language plpgsql as $$
begin
  update entity_unified_transfers e set state = new.state, mint_tx_hash = new.mint_tx_hash,
    update_date = greatest(e.update_date, new.update_date) where e.id = new.id;
  return null;
end $$;
create trigger unified_transfers_followed after update of state, mint_tx_hash on unified_transfers
  for each row execute function follow_unified_transfer();

-- The signed bytes: a burn intent or a set of them, in the encoding of the wallet contract.
create table unified_signed_intents (
  transfer_id uuid not null references unified_transfers (id),
  entry integer not null,
  intents bytea not null,
  signature bytea not null check (octet_length(signature) = 65),
  primary key (transfer_id, entry)
);
revoke update, delete on unified_signed_intents from bezant_runtime;

-- The reservation of one intent; a specification is used once for good.
create table unified_intents (
  spec_hash text primary key check (spec_hash ~ '^0x[0-9a-f]{64}$'),
  transfer_id uuid not null,
  entry integer not null,
  position integer not null,
  blockchain text not null,
  depositor text not null,
  value numeric(78, 0) not null check (value > 0),
  fee numeric(78, 0) not null check (fee >= 0),
  max_fee numeric(78, 0) not null,
  max_block_height numeric(78, 0) not null,
  -- `returned`: the attestation expired unused. `burned`: the block of the burn is final.
  state text not null default 'reserved' check (state in ('reserved', 'returned', 'burned')),
  unique (transfer_id, position),
  foreign key (transfer_id, entry) references unified_signed_intents (transfer_id, entry)
);
create index unified_intents_reserved on unified_intents (blockchain, depositor) where state = 'reserved';
revoke delete on unified_intents from bezant_runtime;

-- The events of minter contracts in blocks that count now.
create table unified_mints (
  blockchain text not null,
  block_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  tx_hash text not null,
  spec_hash text not null,
  amount numeric(78, 0) not null,
  final boolean not null default false,
  primary key (blockchain, block_hash, log_index)
);
create index unified_mints_of_specs on unified_mints (spec_hash);
create index unified_mints_waiting on unified_mints (blockchain, block_number) where not final;

-- Burns to send: what was signed together is burned together on each source.
create table unified_burns (
  transfer_id uuid not null,
  entry integer not null,
  blockchain text not null,
  -- `sent`: part of a batch. `done`: all its intents are burned.
  state text not null default 'waiting' check (state in ('waiting', 'sent', 'done')),
  -- The transaction that carries it, and the entity whose treasury pays.
  batch_id uuid,
  payer_entity_id uuid,
  failures integer not null default 0,
  due_at timestamptz(3) not null,
  primary key (transfer_id, entry, blockchain),
  foreign key (transfer_id, entry) references unified_signed_intents (transfer_id, entry)
);
create index unified_burns_waiting on unified_burns (blockchain, due_at) where state = 'waiting';
create index unified_burns_of_batches on unified_burns (blockchain, batch_id) where state = 'sent';
revoke delete on unified_burns from bezant_runtime;

-- The value attested within one hour for one destination, kept below a limit.
create table unified_hours (
  blockchain text not null,
  hour timestamptz(3) not null,
  value numeric(78, 0) not null,
  primary key (blockchain, hour)
);
