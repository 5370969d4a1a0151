-- Payments between depositors of unified balances on one chain, each signed by its payer and settled in batches: the wallet contract is
-- told the sums alone.

-- Batches, each in one transaction of a treasury. A batch is one transaction of the wallet contract for good: a failed one ends, and
-- its payments go into another.
create table unified_batches (
  id uuid primary key,
  blockchain text not null,
  state text not null default 'sent' check (state in ('sent', 'confirmed', 'completed', 'failed')),
  -- The entity whose treasury pays; the transaction has the id of the batch.
  payer_entity_id uuid not null,
  -- The block that has it, while one does.
  block_hash text,
  block_number bigint,
  tx_hash text,
  -- In the time of the database, by which the next one waits.
  made_at timestamptz(3) not null default now(),
  create_date timestamptz(3) not null,
  check ((block_hash is null) = (state in ('sent', 'failed')))
);
create index unified_batches_newest on unified_batches (blockchain, made_at);
create index unified_batches_sent on unified_batches (blockchain, id) where state = 'sent';
create index unified_batches_confirmed on unified_batches (blockchain, block_number) where state = 'confirmed';
create index unified_batches_of_blocks on unified_batches (blockchain, block_hash) where block_hash is not null;
revoke delete on unified_batches from bezant_runtime;

create table unified_payments (
  id uuid primary key,
  blockchain text not null,
  payer text not null,
  payee text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- Of the authorization: the number by which its payer tells it from others, and the seconds between which it is valid.
  nonce bytea not null check (octet_length(nonce) = 32),
  valid_after numeric(78, 0) not null,
  valid_before numeric(78, 0) not null,
  signature bytea not null check (octet_length(signature) = 65),
  -- `received`: the amount is reserved, and waits for a batch. `completed`: the block of the batch is final, and the payee has the amount.
  -- `failed`: it expired before it was part of a batch, and the amount is returned.
  state text not null default 'received' check (state in ('received', 'batched', 'confirmed', 'completed', 'failed')),
  batch_id uuid references unified_batches (id),
  -- Batches of it that failed; such a payment goes alone.
  failures integer not null default 0,
  due_at timestamptz(3) not null,
  -- The delivery that was answered that it is accepted: another one would be for the same payment.
  delivery_id uuid not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  unique (blockchain, payer, nonce),
  check ((batch_id is null) = (state in ('received', 'failed')))
);
create index unified_payments_waiting on unified_payments (blockchain, due_at, id) where state = 'received';
create index unified_payments_of_batches on unified_payments (batch_id) where batch_id is not null;
create index unified_payments_expiring on unified_payments (blockchain, valid_before, id) where state = 'received';
-- Lists are read chain by chain; ids begin with the date. Nearly all payments are completed: other states are found in a part.
create index unified_payments_by_chain on unified_payments (blockchain, id);
create index unified_payments_by_payer on unified_payments (payer, blockchain, id);
create index unified_payments_by_payee on unified_payments (payee, blockchain, id);
create index unified_payments_open_by_payer on unified_payments (payer, blockchain, id) where state <> 'completed';
create index unified_payments_open_by_payee on unified_payments (payee, blockchain, id) where state <> 'completed';
create index unified_payments_by_nonce on unified_payments (nonce);
revoke delete on unified_payments from bezant_runtime;

-- Sums that the contract moved in batches: the part that came out of a withdrawing balance counts, and all of them in batches of another server.
alter table unified_movements drop constraint unified_movements_kind_check;
alter table unified_movements add constraint unified_movements_kind_check
  check (kind in ('deposited', 'withdrawalInitiated', 'withdrawalCompleted', 'burned', 'paid', 'received'));
