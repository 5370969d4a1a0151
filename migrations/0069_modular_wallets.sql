-- Modular wallets: smart accounts whose owners sign elsewhere, such as with passkeys in pages. Their keys are not here.

alter table managed_addresses alter column key_id drop not null;
alter table managed_addresses drop constraint managed_addresses_purpose_check;
alter table managed_addresses add constraint managed_addresses_purpose_check
  check (purpose in ('wallet', 'deposit', 'treasury', 'modular'));
alter table managed_addresses add constraint managed_addresses_key_of_purpose check ((purpose = 'modular') = (key_id is null));

create table modular_wallets (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  address text not null,
  name text,
  -- The first owners, as clients configure them; null of an account that others deployed before it was known here.
  owners jsonb,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, address)
);

-- The accounts that an owner may find again: several for one owner, such as one that recovers accounts.
create table owner_mappings (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  wallet_address text not null,
  -- The address of the owner, or the two coordinates of its key.
  owner text not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, owner, wallet_address)
);

-- User operations that owners of modular wallets signed, and that this server bundles.
create table user_operations (
  entity_id uuid not null,
  id uuid not null,
  wallet_id uuid not null,
  blockchain text not null,
  sender text not null,
  nonce numeric(78, 0) not null,
  user_op_hash text not null,
  operation jsonb not null,
  state text not null check (state in ('SENT', 'CONFIRMED', 'COMPLETE', 'FAILED')),
  error_reason text check (error_reason in ('FAILED_ON_CHAIN', 'FAILED_REPLACED')),
  -- Why it failed, as the EntryPoint or the call says.
  error_details text,
  tx_hash text,
  -- The block that holds it, or the one that holds what replaced it.
  block_hash text,
  block_number bigint,
  block_time timestamptz(3),
  gas_used numeric(78, 0),
  fee numeric(78, 0),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, user_op_hash),
  foreign key (entity_id, wallet_id) references modular_wallets (entity_id, id)
);
-- One operation of each nonce waits at most: the EntryPoint would execute one of them.
create unique index user_operations_waiting on user_operations (entity_id, blockchain, sender, nonce) where state = 'SENT';
create index user_operations_by_date on user_operations (entity_id, create_date, id);
create index user_operations_by_block on user_operations (blockchain, block_hash) where block_hash is not null;
create index user_operations_confirmed on user_operations (blockchain, block_number) where state = 'CONFIRMED';

-- The gas that a treasury promised to pay for, by operation. Limits count it for a day.
create table sponsorships (
  entity_id uuid not null,
  blockchain text not null,
  user_op_hash text not null,
  wallet_id uuid not null,
  -- The gas that the operation may use at most, and what it used, once a block holds it.
  gas numeric(78, 0) not null check (gas >= 0),
  gas_used numeric(78, 0),
  -- From when on nothing can use it, unless the operation was sent here before.
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, blockchain, user_op_hash),
  foreign key (entity_id, wallet_id) references modular_wallets (entity_id, id)
);
create index sponsorships_by_date on sponsorships (entity_id, blockchain, create_date);

-- An operation is that of a transaction, or one of `user_operations` with the same id.
alter table operations drop constraint operations_entity_id_id_fkey;
alter table operations
  add column is_external boolean not null default false,
  -- Why none of its bundles will carry it any more.
  add column end_reason text;
create index operations_external_ended on operations (blockchain, entity_id, id) where is_external and state = 'ended' and end_reason is not null;
