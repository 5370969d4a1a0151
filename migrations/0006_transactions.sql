-- On-chain transactions as the customer sees them, the attempts and operations that carry them out, and the journals.

create table transactions (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  wallet_id uuid,
  -- The managed address that sends (OUTBOUND) or receives (INBOUND).
  address text not null,
  transaction_type text not null check (transaction_type in ('INBOUND', 'OUTBOUND')),
  custody_type text not null,
  -- The user whose key signs; absent where the developer's does.
  user_id text,
  state text not null check (state in
    ('INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK', 'CONFIRMED', 'COMPLETE', 'FAILED', 'DENIED', 'CANCELLED')),
  -- The sender is a contract: an operation takes the place of attempts.
  smart_account boolean not null default false,
  operation text not null,
  token_id uuid references tokens (id),
  source_address text,
  destination_address text,
  amounts text[],
  -- The items of a transfer of NFTs, beside their amounts.
  nft_token_ids text[],
  amount numeric(78, 0),
  -- The canonical call that will be signed; the grant is bound to its hash.
  call_to text,
  call_value numeric(78, 0),
  call_data bytea,
  -- A contract execution as it was asked for; empty for transfers.
  contract_address text,
  abi_function_signature text,
  abi_parameters jsonb,
  -- The version that the transaction upgrades its smart account to.
  new_core text,
  -- The replacement that its owner asked for while it is under way, until a worker has signed the replacement.
  requested_replacement text check (requested_replacement in ('bump', 'cancel')),
  fee_level text,
  gas_limit numeric(78, 0),
  gas_price numeric(78, 0),
  max_fee numeric(78, 0),
  priority_fee numeric(78, 0),
  -- The most that a transaction may cost its user for gas, as it was shown before the approval. Null of all others.
  fee_max numeric(78, 0) check (fee_max >= 0),
  estimated_fee jsonb,
  ref_id text not null default '',
  tx_hash text,
  user_op_hash text,
  block_hash text,
  block_number bigint,
  log_index integer,
  -- INBOUND: which transfer of this token to this address within its transaction; a log moves in another block, this does not.
  ordinal integer,
  network_fee numeric(78, 0),
  first_confirm_date timestamptz(3),
  error_reason text,
  error_details text,
  -- Whether its changes are notified: not those of a token that is named like a listed one.
  announced boolean not null default true,
  -- An incoming transfer of nothing, or one that no balance shows yet.
  unproven boolean not null default false,
  -- The decision, as customers see it; null while none is made.
  screening jsonb,
  -- The revision of the lists that the transaction was screened against last.
  screened_revision bigint not null default 0,
  -- Wallets to freeze for what they received: not in the tx of the block, which must not wait for signers of an entity.
  to_freeze boolean not null default false,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
-- Callers who filter by state look for what is under way or went wrong; nearly all rows are complete.
create index transactions_by_state on transactions (entity_id, state, create_date, id) where state <> 'COMPLETE';
create index transactions_by_hash on transactions (entity_id, tx_hash) where tx_hash is not null;
-- The same transfer in another block after a reorg is the same transaction.
create unique index transactions_inbound_once on transactions (entity_id, blockchain, tx_hash, address, token_id, ordinal)
  where transaction_type = 'INBOUND';
create index transactions_open on transactions (blockchain, block_number) where state = 'CONFIRMED';
create index transactions_by_block on transactions (blockchain, block_hash) where block_hash is not null;
-- A transaction that ended in a block without doing what was asked gives its allowance back when that block is final.
create index transactions_ended on transactions (blockchain, block_number)
  where transaction_type = 'OUTBOUND' and state in ('FAILED', 'CANCELLED');
create index transactions_requested_replacement on transactions (blockchain, entity_id, address)
  where requested_replacement is not null;
create index transactions_unexplained on transactions (blockchain, entity_id)
  where state = 'FAILED' and error_reason = 'FAILED_ON_CHAIN' and error_details is null;
create index transactions_creating on transactions (entity_id, blockchain, contract_address)
  where operation = 'CONTRACT_DEPLOYMENT';
-- Only cleared transactions are signed; the others must not lengthen the walk to them.
create index transactions_queue on transactions (blockchain, address, create_date, id)
  where transaction_type = 'OUTBOUND' and state in ('CLEARED', 'QUEUED') and tx_hash is null;
create index transactions_senders on transactions (blockchain, entity_id, address)
  where transaction_type = 'OUTBOUND' and state in ('CLEARED', 'QUEUED') and tx_hash is null;
create index transactions_unscreened on transactions (blockchain, entity_id, create_date, id)
  where transaction_type = 'OUTBOUND' and state = 'INITIATED' and screening is null;
create index transactions_screened on transactions (blockchain, screened_revision, entity_id, create_date, id)
  where transaction_type = 'OUTBOUND' and state in ('CLEARED', 'QUEUED') and tx_hash is null;
-- Customers see the transactions of their wallets, not those of the treasury.
create index transactions_page on transactions (entity_id, create_date, id) where wallet_id is not null and not unproven;
-- A stranger can make a wallet receive transfers that no balance proves. They are in indexes of their own, so that lists without
-- them do not read past them.
create index transactions_unproven_page on transactions (entity_id, create_date, id) where wallet_id is not null and unproven;
create index transactions_by_wallet on transactions (entity_id, wallet_id, create_date, id)
  where wallet_id is not null and not unproven;
create index transactions_unproven_by_wallet on transactions (entity_id, wallet_id, create_date, id)
  where wallet_id is not null and unproven;
-- A transaction without a wallet is the platform's own and in no list, as in transactions_page.
create index transactions_by_blockchain on transactions (entity_id, blockchain, create_date, id)
  where wallet_id is not null and not unproven;
create index transactions_by_destination on transactions (entity_id, destination_address, create_date, id)
  where wallet_id is not null and not unproven;
create index transactions_to_freeze on transactions (blockchain, entity_id, create_date, id) where to_freeze;
-- Few transfers wait for the decimals of their token.
create index transactions_without_amounts on transactions (entity_id, token_id, address)
  where transaction_type = 'INBOUND' and amounts is null;
create index transactions_upgrades on transactions (entity_id, wallet_id) where new_core is not null;
create index transactions_by_user on transactions (entity_id, user_id, create_date, id) where user_id is not null;
create trigger transactions_date_later before update of update_date on transactions
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- One row per signed transaction. A nonce is allocated by inserting the row that uses it.
create table attempts (
  entity_id uuid not null,
  id uuid not null,
  transaction_id uuid not null,
  blockchain text not null,
  address text not null,
  nonce bigint not null check (nonce >= 0),
  kind text not null check (kind in ('original', 'bump', 'cancel', 'noop')),
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
create index attempts_by_transaction on attempts (entity_id, transaction_id);
-- The cost of a round of signing must not grow with what an address has sent in its life.
create index attempts_in_flight on attempts (blockchain, entity_id, address, nonce) where state in ('signed', 'sent');
create index attempts_rejected on attempts (blockchain, entity_id, address, nonce) where state = 'rejected';
-- An attempt's bytes, nonce and prices are what was signed; only how its sending went may change.
revoke update, delete on attempts from bezant_runtime;
grant update (state, lease_until, fencing_token, broadcast_count, last_error) on attempts to bezant_runtime;

-- The operation that was signed for a transaction. Its nonce is made from the transaction's id, so that the EntryPoint
-- executes one operation of each transaction at most, whatever was signed or sent before.
create table operations (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  account text not null,
  user_op_hash text not null,
  operation jsonb not null,
  -- The deposit that the EntryPoint asks of its paymaster, in base units of the native coin.
  required_deposit numeric(78, 0) not null check (required_deposit >= 0),
  -- signed: waits for a bundle. bundled: the treasury's transaction `bundle_id` carries it. ended: nothing will.
  state text not null check (state in ('signed', 'bundled', 'ended')),
  bundle_id uuid,
  -- Whether a signed bundle ever carried it: since then, its bytes may be known.
  was_bundled boolean not null default false,
  -- Of a modular wallet, whose owner signed elsewhere: one of `user_operations` has the same id, and otherwise a transaction.
  is_external boolean not null default false,
  -- Why none of its bundles will carry it any more.
  end_reason text,
  -- Bundles that a block held and the EntryPoint refused: an operation that spoils bundles goes alone, and then into none.
  failed_bundles integer not null default 0,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index operations_signed on operations (blockchain, entity_id, create_date, id) where state = 'signed';
create index operations_by_bundle on operations (entity_id, bundle_id) where bundle_id is not null;
create index operations_by_account on operations (entity_id, blockchain, account, create_date);
create index operations_external_ended on operations (blockchain, entity_id, id)
  where is_external and state = 'ended' and end_reason is not null;

-- The payer of the gas of an entity's operations on a chain: its treasury, through the paymaster that is its own.
create table sponsors (
  entity_id uuid not null,
  blockchain text not null,
  treasury_id uuid not null,
  key_id uuid not null,
  address text not null,
  -- The contract that pays for the sponsor; null until a worker registers it.
  paymaster text,
  -- One with another code, and so another address: the treasury takes its deposit back.
  retired_paymaster text,
  create_date timestamptz(3) not null,
  primary key (entity_id, blockchain)
);
create index sponsors_without_paymaster on sponsors (blockchain) where paymaster is null;
create index sponsors_with_retired_paymaster on sponsors (blockchain, entity_id) where retired_paymaster is not null;

-- The gas that a treasury promised to pay for, by operation. An open promise counts against the limits until it expires; what a
-- block holds counts for a day from then on.
create table sponsorships (
  entity_id uuid not null,
  blockchain text not null,
  user_op_hash text not null,
  wallet_id uuid not null,
  -- The transaction that the operation is of; null of an operation that its owner signed elsewhere.
  transaction_id uuid,
  -- The gas that the operation may use at most, and what it used, once a block holds it.
  gas numeric(78, 0) not null check (gas >= 0),
  gas_used numeric(78, 0),
  -- When a block that holds the operation was followed.
  used_date timestamptz(3),
  -- The gas that failed bundles burnt, by the operations that were in them: the sponsor paid for it, and was not paid back.
  failed_gas numeric(78, 0) not null default 0 check (failed_gas >= 0),
  -- When the last of them was followed; null without one.
  failed_date timestamptz(3),
  -- From when on nothing can use it, unless the operation was sent here before.
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, blockchain, user_op_hash),
  constraint sponsorships_used check ((gas_used is null) = (used_date is null)),
  constraint sponsorships_failed check ((failed_gas = 0) = (failed_date is null))
);
create unique index sponsorships_by_transaction on sponsorships (entity_id, transaction_id) where transaction_id is not null;
create index sponsorships_open on sponsorships (entity_id, blockchain, expire_date) where gas_used is null;
create index sponsorships_by_use on sponsorships (entity_id, blockchain, used_date) where gas_used is not null;
create index sponsorships_by_failure on sponsorships (entity_id, blockchain, failed_date) where failed_date is not null;

-- One row: what tells this database from its own older copies. A restored copy is a new incarnation; it opens an epoch in
-- which every journal has to be merged again before anything is signed.
create table journal_epochs (
  single boolean primary key default true check (single),
  installation uuid not null default gen_random_uuid(),
  epoch bigint not null default 1,
  -- Server, timeline and table that the epoch was opened in; null until the first worker starts.
  incarnation text
);
insert into journal_epochs default values;

-- The journals that workers keep outside the database, of everything that they send, and how far each is known here.
create table journals (
  id text primary key,
  -- The host on which it was opened last, for the operator who looks for it.
  host text not null,
  path text not null,
  -- Everything up to here is in this database: the number of records, and the hash of the frame that ends with it.
  sequence bigint not null,
  head_hash bytea not null check (octet_length(head_hash) = 32),
  state text not null check (state in ('open', 'lost')),
  merged_epoch bigint not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null
);

-- A journal that an earlier version wrote lacks the columns that were added since: they get their defaults. Without this, one
-- such record would fail the merge, and nothing would ever be signed.
create function row_of_copy(of anyelement, copy jsonb) returns anyelement language plpgsql stable as $$
declare
  missing text;
  defaults jsonb;
begin
  select string_agg(format('%L, %s', a.attname, pg_get_expr(d.adbin, d.adrelid)), ', ') into missing
    from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = pg_typeof(of)::text::regclass and a.attidentity = '' and a.attgenerated = ''
      and not copy ? a.attname;
  if missing is not null then
    execute 'select jsonb_build_object(' || missing || ')' into defaults;
  end if;
  return jsonb_populate_record(of, coalesce(defaults, '{}') || copy);
end $$;

-- How the transactions of platform keys stand, for the engine above that asked for them.
create view platform_transactions as
  select entity_id, id, state, tx_hash, block_number, error_reason, error_details, blockchain, block_hash from transactions
  where transaction_type = 'OUTBOUND' and wallet_id is null;

create view deployments as
  select entity_id, id, blockchain, state, wallet_id, address as deployer_address, contract_address,
    tx_hash, error_reason, error_details, update_date
  from transactions where operation = 'CONTRACT_DEPLOYMENT';

-- Transactions as webhooks show them, see `notified_kinds`.
create view notified_transactions as
  select entity_id, id, update_date, jsonb_build_object(
      'state', state, 'amounts', amounts, 'sourceAddress', source_address, 'txHash', tx_hash, 'blockHash', block_hash,
      'blockHeight', block_number, 'networkFee', network_fee::text, 'estimatedFee', estimated_fee,
      'firstConfirmDate', to_char(first_confirm_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'contractAddress', contract_address, 'errorReason', error_reason, 'errorDetails', error_details) as snapshot
  from transactions where wallet_id is not null;
