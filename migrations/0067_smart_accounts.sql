-- Smart accounts: wallets that are contracts, whose transactions are user operations that bundles of a treasury execute.

-- The version of the account, of a smart account alone.
alter table wallets add column sca_core text;
alter table wallets add constraint wallets_core_of_account check ((account_type = 'SCA') = (sca_core is not null));
create index wallets_by_core on wallets (entity_id, sca_core, create_date, id) where sca_core is not null;

alter table transactions
  -- The sender is a contract: an operation takes the place of attempts.
  add column smart_account boolean not null default false,
  add column user_op_hash text;
create index transactions_by_operation on transactions (blockchain, user_op_hash) where user_op_hash is not null;

-- The operation that was signed for a transaction. Its nonce is made from the transaction's id, so that the EntryPoint
-- executes one operation of each transaction at most, whatever was signed or sent before.
create table operations (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  account text not null,
  user_op_hash text not null,
  operation jsonb not null,
  creates_account boolean not null,
  -- The deposit that the EntryPoint asks of its paymaster, in base units of the native coin.
  required_deposit numeric(78, 0) not null check (required_deposit >= 0),
  -- signed: waits for a bundle. bundled: the treasury's transaction `bundle_id` carries it. ended: nothing will.
  state text not null check (state in ('signed', 'bundled', 'ended')),
  bundle_id uuid,
  -- Whether a signed bundle ever carried it: since then, its bytes may be known.
  was_bundled boolean not null default false,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, id) references transactions (entity_id, id)
);
create index operations_signed on operations (blockchain, entity_id, create_date, id) where state = 'signed';
create index operations_by_bundle on operations (entity_id, bundle_id) where bundle_id is not null;
create index operations_by_account on operations (entity_id, blockchain, account, create_date);

-- What was signed for a transaction of a smart account. The contract executes one operation of it at most.
create table operation_signatures (
  entity_id uuid not null,
  intent_id uuid not null,
  ordinal integer not null check (ordinal >= 0),
  blockchain text not null,
  address text not null,
  digest bytea not null check (octet_length(digest) = 32),
  create_date timestamptz(3) not null,
  primary key (entity_id, intent_id, ordinal)
);
create trigger operation_signatures_append_only before update or delete or truncate on operation_signatures
  for each statement execute function refuse_change();
revoke update, delete on operation_signatures from bezant_runtime;

-- Who pays the gas of an entity's operations on a chain: its treasury, through the paymaster that is its own.
create table sponsors (
  entity_id uuid not null,
  blockchain text not null,
  treasury_id uuid not null,
  key_id uuid not null,
  address text not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, blockchain)
);

-- The treasury's own transactions for smart accounts: bundles, the contracts that accounts need, deposits of the paymaster.
create table account_calls (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  purpose text not null check (purpose in ('bundle', 'contract', 'deposit')),
  -- Whether its end was acted on.
  settled boolean not null default false,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index account_calls_open on account_calls (blockchain, entity_id, create_date, id) where not settled;

-- Operations of managed accounts in blocks, as the EntryPoint tells of them.
create table observed_operations (
  entity_id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  tx_hash text not null,
  log_index integer not null,
  user_op_hash text not null,
  account text not null,
  nonce numeric(78, 0) not null,
  success boolean not null,
  gas_used numeric(78, 0) not null,
  fee numeric(78, 0) not null,
  block_time timestamptz(3) not null,
  primary key (entity_id, blockchain, block_hash, tx_hash, log_index)
);
create index observed_operations_by_block on observed_operations (blockchain, block_hash);
