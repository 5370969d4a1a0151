-- Crypto deposits: intents, the addresses they wait at, and the payments that arrive there.

create table payment_intents (
  entity_id uuid not null,
  id uuid not null,
  type text not null check (type in ('continuous', 'transient')),
  currency text not null,
  settlement_currency text not null,
  chain text not null,
  blockchain text not null,
  merchant_wallet_id text not null,
  amount_paid numeric(78, 0) not null default 0,
  amount_refunded numeric(78, 0) not null default 0,
  -- Newest first, as it is shown.
  timeline jsonb not null,
  status text not null,
  deposit_address text,
  expires_on timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index payment_intents_page on payment_intents (entity_id, create_date, id);

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
  payment_intent_id uuid not null,
  merchant_wallet_id text not null,
  currency text not null,
  amount numeric(78, 0) not null,
  chain text not null,
  blockchain text not null,
  from_address text not null,
  deposit_address text not null,
  transaction_hash text not null,
  log_index integer not null,
  block_hash text,
  block_number bigint,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, payment_intent_id) references payment_intents (entity_id, id)
);
create index payments_page on payments (entity_id, create_date, id);
create index payments_by_intent on payments (entity_id, payment_intent_id, create_date, id);
create unique index payments_once on payments (entity_id, blockchain, transaction_hash, log_index);
