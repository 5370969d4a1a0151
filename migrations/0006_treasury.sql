-- Crypto deposits: intents, the addresses they wait at, and the payments that arrive there. And what the faucet gave.

create table payment_intents (
  entity_id uuid not null,
  id uuid not null,
  type text not null check (type in ('continuous', 'transient')),
  currency text not null,
  settlement_currency text not null,
  -- The chain code of the business-account API, and the network it names in the entity's environment.
  chain text not null,
  blockchain text not null,
  merchant_wallet_id text not null,
  -- Base units of the currency's token on this chain have so many decimals.
  decimals integer not null,
  -- What a transient intent asks for.
  amount numeric(78, 0) check (amount > 0),
  amount_paid numeric(78, 0) not null default 0 check (amount_paid >= 0),
  amount_refunded numeric(78, 0) not null default 0 check (amount_refunded >= 0),
  -- Newest first, as it is shown; status and context are those of its first entry.
  timeline jsonb not null,
  status text not null
    check (status in ('created', 'pending', 'active', 'complete', 'expired', 'failed', 'refunded')),
  context text check (context in ('paid', 'underpaid', 'overpaid')),
  deposit_address text,
  expires_on timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  check ((type = 'transient') = (amount is not null)),
  check ((type = 'transient') = (expires_on is not null))
);
create index payment_intents_page on payment_intents (entity_id, create_date, id);
create index payment_intents_by_status on payment_intents (entity_id, status, create_date, id);
create index payment_intents_expiring on payment_intents (expires_on) where status = 'pending';

create table deposit_addresses (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  chain text not null,
  currency text not null,
  address text not null,
  payment_intent_id uuid not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, address),
  foreign key (entity_id, payment_intent_id) references payment_intents (entity_id, id)
);

create table payments (
  entity_id uuid not null,
  id uuid not null,
  type text not null check (type in ('payment', 'refund')),
  status text not null check (status in ('pending', 'confirmed', 'paid', 'failed', 'action_required')),
  -- Null when the money matches no intent: it came too late, or in another currency than was asked for.
  payment_intent_id uuid,
  merchant_wallet_id text not null,
  currency text not null,
  decimals integer not null,
  amount numeric(78, 0) not null check (amount > 0),
  chain text not null,
  blockchain text not null,
  from_address text not null,
  deposit_address text not null,
  token_id uuid not null,
  transaction_hash text not null,
  -- The how-manieth transfer of this token to this address within its transaction. Unlike the position of a log
  -- in its block it survives a reorg, so a transaction that is mined again finds its payment.
  ordinal integer not null check (ordinal >= 0),
  -- Null while the block that held it is orphaned; the number is then that of the lost block.
  block_hash text,
  block_number bigint not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, transaction_hash, deposit_address, token_id, ordinal),
  foreign key (entity_id, payment_intent_id) references payment_intents (entity_id, id)
);
create index payments_page on payments (entity_id, create_date, id);
create index payments_by_status on payments (entity_id, status, create_date, id);
create index payments_by_intent on payments (entity_id, payment_intent_id, create_date, id);
create index payments_open on payments (blockchain, block_number) where status in ('pending', 'confirmed');
create index payments_by_block on payments (blockchain, block_hash);

-- What the sandbox's faucet signed. It belongs to no tenant: one key per chain gives to all of them.
-- A nonce is allocated by inserting the row that uses it, and the bytes are durable before they are sent.
create table faucet_transactions (
  blockchain text not null,
  nonce bigint not null check (nonce >= 0),
  tx_hash text not null,
  raw_transaction text not null,
  create_date timestamptz(3) not null,
  primary key (blockchain, nonce)
);
