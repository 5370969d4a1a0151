-- On-chain transactions as the customer sees them, and the attempts that carry them out.

create table transactions (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  wallet_id uuid,
  -- The managed address that sends (OUTBOUND) or receives (INBOUND).
  address text not null,
  transaction_type text not null check (transaction_type in ('INBOUND', 'OUTBOUND')),
  custody_type text not null,
  state text not null check (state in
    ('INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK', 'CONFIRMED', 'COMPLETE', 'FAILED', 'DENIED', 'CANCELLED')),
  operation text not null,
  token_id uuid references tokens (id),
  source_address text,
  destination_address text,
  amounts text[],
  amount numeric(78, 0),
  -- The canonical call that will be signed; the grant is bound to its hash.
  call_to text,
  call_value numeric(78, 0),
  call_data bytea,
  -- A contract execution as it was asked for; empty for transfers.
  contract_address text,
  abi_function_signature text,
  abi_parameters jsonb,
  -- What its owner asked for while it is under way, until a worker has signed the replacement.
  wanted text check (wanted in ('bump', 'cancel')),
  fee_level text,
  gas_limit numeric(78, 0),
  gas_price numeric(78, 0),
  max_fee numeric(78, 0),
  priority_fee numeric(78, 0),
  estimated_fee jsonb,
  ref_id text not null default '',
  tx_hash text,
  block_hash text,
  block_number bigint,
  log_index integer,
  -- INBOUND: which transfer of this token to this address within its transaction; a log moves in another block, this does not.
  ordinal integer,
  network_fee numeric(78, 0),
  first_confirm_date timestamptz(3),
  error_reason text,
  error_details text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index transactions_page on transactions (entity_id, create_date, id);
create index transactions_by_blockchain on transactions (entity_id, blockchain, create_date, id);
create index transactions_by_destination on transactions (entity_id, destination_address, create_date, id);
-- Whoever asks for a state asks for what is under way or went wrong; nearly all rows are complete.
create index transactions_by_state on transactions (entity_id, state, create_date, id) where state <> 'COMPLETE';
create index transactions_by_wallet on transactions (entity_id, wallet_id, create_date, id);
create index transactions_by_hash on transactions (entity_id, tx_hash) where tx_hash is not null;
-- The same transfer in another block after a reorg is the same transaction.
create unique index transactions_inbound_once on transactions (entity_id, blockchain, tx_hash, address, token_id, ordinal)
  where transaction_type = 'INBOUND';
create index transactions_queue on transactions (blockchain, address, create_date, id)
  where transaction_type = 'OUTBOUND' and state in ('INITIATED', 'CLEARED', 'QUEUED') and tx_hash is null;
create index transactions_wanted on transactions (blockchain, address) where wanted is not null;
create index transactions_unexplained on transactions (blockchain)
  where state = 'FAILED' and error_reason = 'FAILED_ON_CHAIN' and error_details is null;
create index transactions_open on transactions (blockchain, block_number) where state = 'CONFIRMED';
create index transactions_by_block on transactions (blockchain, block_hash) where block_hash is not null;

-- One row per signed transaction. A nonce is allocated by inserting the row that uses it.
create table attempts (
  entity_id uuid not null,
  id uuid not null,
  transaction_id uuid not null,
  blockchain text not null,
  address text not null,
  nonce bigint not null check (nonce >= 0),
  kind text not null check (kind in ('original', 'bump', 'cancel', 'filler')),
  tx_hash text not null,
  raw_transaction bytea not null,
  gas_limit numeric(78, 0) not null,
  max_fee numeric(78, 0) not null,
  priority_fee numeric(78, 0) not null,
  -- The attempt whose place this one takes in the nodes' pools: same key, same nonce, higher price.
  replaces_id uuid,
  -- replaced: another one took its place, though it may still be mined. rejected: no pool ever held it.
  -- displaced: its nonce was used by a final transaction that is not ours.
  state text not null check (state in ('signed', 'sent', 'mined', 'replaced', 'rejected', 'displaced')),
  -- Workers claim an attempt before they send it; the token fences a worker that was frozen meanwhile.
  lease_until timestamptz,
  fencing_token bigint not null default 0,
  broadcast_count integer not null default 0,
  last_error text,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, transaction_id) references transactions (entity_id, id),
  foreign key (entity_id, replaces_id) references attempts (entity_id, id)
);
-- A nonce is given out once; whatever else is signed for it replaces what was signed before, in one line without forks.
create unique index attempts_nonce_once on attempts (entity_id, blockchain, address, nonce) where replaces_id is null;
create unique index attempts_replaced_once on attempts (entity_id, replaces_id) where replaces_id is not null;
create unique index attempts_hash_once on attempts (entity_id, blockchain, tx_hash);
create index attempts_by_address on attempts (blockchain, address, nonce);
-- What a round of signing asks for must not grow with what an address has sent in its life.
create index attempts_in_flight on attempts (blockchain, address, nonce) where state in ('signed', 'sent');
create index attempts_rejected on attempts (blockchain, address, nonce) where state = 'rejected';
create index attempts_by_transaction on attempts (entity_id, transaction_id);
