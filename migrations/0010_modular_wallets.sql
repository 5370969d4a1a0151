-- Modular wallets: smart accounts whose owners sign elsewhere, such as with passkeys in pages. Their keys are not here.

-- Challenges that were given out and not yet answered: the answer, right or wrong, removes its challenge.
create table passkey_challenges (
  entity_id uuid not null,
  challenge bytea not null check (octet_length(challenge) = 32),
  -- The user of a registration; absent for a login.
  user_handle bytea check (octet_length(user_handle) = 32),
  username text,
  expire_date timestamptz(3) not null,
  primary key (entity_id, challenge),
  check ((user_handle is null) = (username is null))
);
create index passkey_challenges_by_expiry on passkey_challenges (entity_id, expire_date);

-- Credentials by which users sign. Only the counter and the date of its last change move.
create table passkeys (
  entity_id uuid not null,
  id uuid not null,
  credential_id bytea not null check (octet_length(credential_id) between 1 and 1023),
  -- A SubjectPublicKeyInfo on P-256.
  public_key bytea not null check (octet_length(public_key) = 91),
  -- The signature counter of the authenticator: 0 for ever where it has none.
  counter bigint not null check (counter >= 0),
  rp_id text not null,
  user_handle bytea not null,
  username text not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, credential_id)
);
revoke update, delete on passkeys from bezant_runtime;
grant update (counter, update_date) on passkeys to bezant_runtime;

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
  -- A mapping counts once its wallet has the owner: every holder of the key of a page may claim one, for the owner of another.
  -- When the wallet was first seen to move after the claim, or was known to have the owner; null of a claim.
  bound_date timestamptz(3),
  -- The block of the wallet's first successful operation since the claim, which may have added the owner.
  moved_date timestamptz(3),
  -- The block that gave the wallet the owner, and its log: the order of lists, since blocks may share a second.
  bound_block bigint,
  bound_log integer,
  bound_hash text,
  -- Whether the wallet was made for this owner alone, and so has it without a block.
  is_sole boolean not null default false,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, owner, wallet_address)
);
create index owner_mappings_moved on owner_mappings (entity_id, blockchain, owner, moved_date, id)
  where bound_date is null and moved_date is not null;
create index owner_mappings_claims on owner_mappings (entity_id, blockchain, wallet_address);
create index owner_mappings_idle on owner_mappings (entity_id, create_date) where bound_date is null and moved_date is null;
create index owner_mappings_bound on owner_mappings (entity_id, blockchain, owner, bound_block, bound_log, bound_date, id)
  where bound_date is not null;
create index owner_mappings_of_block on owner_mappings (blockchain, bound_hash) where bound_hash is not null;

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

-- The transfers of listed tokens and native coins of modular wallets, each from the side of one wallet.
create table modular_transfers (
  entity_id uuid not null,
  id uuid not null,
  wallet_id uuid not null,
  wallet_address text not null,
  blockchain text not null,
  transfer_type text not null check (transfer_type in ('INBOUND_TRANSFER', 'OUTBOUND_TRANSFER')),
  state text not null check (state in ('CONFIRMED', 'COMPLETE', 'FAILED')),
  token_id uuid not null,
  -- In base units.
  amount numeric(78, 0) not null,
  from_address text not null,
  to_address text not null,
  -- The user operation of the wallet that made it, where one did.
  user_op_hash text,
  tx_hash text not null,
  -- The place among the transfers of its token and wallet in the transaction.
  ordinal integer not null,
  block_hash text not null,
  block_number bigint not null,
  block_time timestamptz(3) not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, tx_hash, wallet_address, transfer_type, token_id, ordinal),
  foreign key (entity_id, wallet_id) references modular_wallets (entity_id, id)
);
create index modular_transfers_by_date on modular_transfers (entity_id, create_date, id);
create index modular_transfers_by_wallet on modular_transfers (entity_id, wallet_address, create_date, id);
create index modular_transfers_by_block on modular_transfers (blockchain, block_hash);
create index modular_transfers_confirmed on modular_transfers (blockchain, block_number) where state = 'CONFIRMED';

-- Operations and transfers of modular wallets as webhooks show them, see `notified_kinds`.
create view notified_user_operations as
  select entity_id, id, update_date, jsonb_build_object(
      'state', state, 'txHash', tx_hash, 'blockHash', block_hash, 'blockNumber', block_number,
      'blockTime', to_char(block_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'gasUsed', gas_used::text, 'fee', fee::text, 'errorReason', error_reason, 'errorDetails', error_details) as snapshot
  from user_operations;

create view notified_modular_transfers as
  select entity_id, id, update_date, jsonb_build_object(
      'state', state, 'blockHash', block_hash, 'blockNumber', block_number,
      'blockTime', to_char(block_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as snapshot
  from modular_transfers;
