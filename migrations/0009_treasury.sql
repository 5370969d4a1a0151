-- The money of business accounts: what comes in, what they send, and the treasuries that hold the coins behind it.

-- One per entity and chain; the key of a family is the same on all its chains.
create table treasuries (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  family text not null,
  address text not null,
  key_id uuid not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain)
);

-- Crypto deposits: intents, the addresses they wait at, and the payments that arrive there.
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
  -- The amount that a transient intent asks for.
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
create index payment_intents_expiring on payment_intents (entity_id, expires_on) where status = 'pending';
create trigger payment_intents_date_later before update of update_date on payment_intents
  for each row when (new.update_date <= old.update_date) execute function date_later();

create table deposit_addresses (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  chain text not null,
  currency text not null,
  address text not null,
  -- Null for an address of the business account's own: it has one for each chain.
  payment_intent_id uuid,
  -- Not given out any more, though what comes there is still credited.
  superseded boolean not null default false,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, address),
  foreign key (entity_id, payment_intent_id) references payment_intents (entity_id, id)
);
create unique index deposit_addresses_of_wallet on deposit_addresses (entity_id, chain)
  where payment_intent_id is null and not superseded;

-- Money that came to a deposit address, and refunds: payments that a merchant makes, which no address sent, no block held
-- before, and a worker pays.
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
  from_address text,
  deposit_address text not null,
  token_id uuid not null,
  transaction_hash text,
  -- The how-manieth transfer of this token to this address within its transaction. Unlike the position of a log
  -- in its block it survives a reorg, so a transaction that is mined again finds its payment.
  ordinal integer check (ordinal >= 0),
  -- Null while the block that held it is orphaned; the number is then that of the lost block.
  block_hash text,
  block_number bigint,
  -- Whether an operator has to decide about a deposit, or what was decided; null where no rule asked for a review.
  review text check (review in ('pending', 'approved', 'denied')),
  -- Of a refund: as in `payouts`.
  submitted boolean not null default false,
  -- When a worker may look at it again, in the time of the database.
  next_attempt_at timestamptz not null default now(),
  -- Of a refund: as in `payouts`.
  waiting jsonb,
  error_code text,
  risk_reason text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, transaction_hash, deposit_address, token_id, ordinal),
  foreign key (entity_id, payment_intent_id) references payment_intents (entity_id, id),
  constraint payments_received check (type = 'refund'
    or (from_address is not null and transaction_hash is not null and ordinal is not null and block_number is not null)),
  constraint payments_refund_of check (type = 'payment' or payment_intent_id is not null)
);
create index payments_page on payments (entity_id, create_date, id);
create index payments_by_status on payments (entity_id, status, create_date, id);
create index payments_by_intent on payments (entity_id, payment_intent_id, create_date, id);
create index payments_open on payments (blockchain, block_number) where status in ('pending', 'confirmed');
create index payments_by_block on payments (blockchain, block_hash);
create index refunds_waiting on payments (blockchain, entity_id, next_attempt_at, id)
  where type = 'refund' and status = 'pending' and not submitted;
create index refunds_under_way on payments (blockchain, entity_id)
  where type = 'refund' and status = 'pending' and submitted;
create index refunds_held on payments (entity_id, create_date, id)
  where type = 'refund' and status = 'pending' and not submitted and waiting is not null;
create index payments_uncredited on payments (entity_id) where review in ('pending', 'denied');
create trigger payments_date_later before update of update_date on payments
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- Each deposit that the merchant's wallet was credited with, and the sweep that took its coins to the treasury.
create table credits (
  entity_id uuid not null,
  -- The payment or incoming transfer.
  id uuid not null,
  currency text not null,
  blockchain text not null,
  token_id uuid not null,
  -- The deposit address that the coins came to.
  address text not null,
  amount numeric(78, 0) not null check (amount > 0),
  sweep_id uuid,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index credits_unswept on credits (entity_id, blockchain, token_id, amount) where sweep_id is null;
create index credits_by_sweep on credits (entity_id, sweep_id) where sweep_id is not null;

-- The address book: whom a business account pays out to.
create table recipients (
  entity_id uuid not null,
  id uuid not null,
  -- The chain code of the business-account API, and the address as the chain's family keeps it.
  chain text not null,
  address text not null,
  address_tag text,
  nickname text,
  email text,
  bns text,
  status text not null check (status in ('pending', 'inactive', 'active', 'denied', 'failed')),
  -- Until when nothing may be paid to it although it passed its review; null where nothing is held back.
  hold_until timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  -- Kept, because payouts name their recipient for good.
  deleted_date timestamptz(3),
  primary key (entity_id, id)
);
create index recipients_page on recipients (entity_id, create_date, id);
create index recipients_by_address on recipients (entity_id, address, create_date, id);
create index recipients_by_email on recipients (entity_id, email, create_date, id) where email is not null;
create index recipients_by_chain on recipients (entity_id, chain, create_date, id);
create index recipients_by_status on recipients (entity_id, status, create_date, id);
create index recipients_to_review on recipients (entity_id) where status = 'pending' and deleted_date is null;
create index recipients_on_hold on recipients (entity_id, hold_until)
  where status = 'inactive' and deleted_date is null;
create trigger recipients_date_later before update of update_date on recipients
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- The addresses of a business account elsewhere, which it withdraws to.
create table recipient_addresses (
  entity_id uuid not null,
  id uuid not null,
  -- The chain code of the business-account API, and the address as the chain's family keeps it.
  chain text not null,
  address text not null,
  -- Empty where there is none, so that it can be part of a key.
  address_tag text not null default '',
  currency text not null,
  description text not null,
  -- Whose address it is, for the travel rule, as it was given.
  identity jsonb,
  ownership jsonb,
  status text not null check (status in ('pending_verification', 'verification_succeeded', 'active')),
  -- Whether its owner has to be verified: its entity is of a country that wants to know whose it is, and none was named.
  needs_identity boolean not null default false,
  hold_until timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  deleted_date timestamptz(3),
  primary key (entity_id, id)
);
create unique index recipient_addresses_once on recipient_addresses (entity_id, chain, address, address_tag, currency)
  where deleted_date is null;
create index recipient_addresses_page on recipient_addresses (entity_id, create_date, id);
create index recipient_addresses_to_verify on recipient_addresses (entity_id)
  where status = 'pending_verification' and not needs_identity and deleted_date is null;
create index recipient_addresses_on_hold on recipient_addresses (entity_id, hold_until)
  where status = 'verification_succeeded' and deleted_date is null;
create trigger recipient_addresses_date_later before update of update_date on recipient_addresses
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- Money that merchants send to recipients.
create table payouts (
  entity_id uuid not null,
  id uuid not null,
  status text not null check (status in ('pending', 'complete', 'failed')),
  wallet_id text not null,
  -- The recipient of the address book, and its address when the payout was accepted.
  recipient_id uuid not null,
  chain text not null,
  blockchain text not null,
  to_address text not null,
  -- The senders, for the travel rule.
  identities jsonb,
  currency text not null,
  token_id uuid not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- Whether the on-chain transaction that pays it exists: that has the same id, so there is never a second one.
  submitted boolean not null default false,
  -- When a worker may look at it again, in the time of the database.
  next_attempt_at timestamptz not null default now(),
  -- Why a disbursement waits, as the worker that looked at it last found: kept when it fails for lack of coins.
  waiting jsonb,
  transaction_hash text,
  error_code text,
  risk_reason text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index payouts_page on payouts (entity_id, create_date, id);
create index payouts_by_status on payouts (entity_id, status, create_date, id);
create index payouts_by_recipient on payouts (entity_id, recipient_id, create_date, id);
-- Orders take turns: what was deferred longest is looked at first, so that what cannot be paid holds up no other.
create index payouts_waiting on payouts (blockchain, entity_id, next_attempt_at, id)
  where status = 'pending' and not submitted;
create index payouts_under_way on payouts (blockchain, entity_id) where status = 'pending' and submitted;
-- Few of them wait for coins or gas.
create index payouts_held on payouts (entity_id, create_date, id)
  where status = 'pending' and not submitted and waiting is not null;
create trigger payouts_date_later before update of update_date on payouts
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- Money to the merchant's own verified addresses, and what arrives at the deposit addresses of the account.
create table transfers (
  entity_id uuid not null,
  id uuid not null,
  direction text not null check (direction in ('in', 'out')),
  status text not null check (status in ('pending', 'running', 'complete', 'failed')),
  wallet_id text not null,
  chain text not null,
  blockchain text not null,
  from_address text,
  to_address text not null,
  currency text not null,
  token_id uuid not null,
  decimals integer not null,
  amount numeric(78, 0) not null check (amount > 0),
  submitted boolean not null default false,
  next_attempt_at timestamptz not null default now(),
  waiting jsonb,
  transaction_hash text,
  -- For money that came in: as in `payments`.
  ordinal integer check (ordinal >= 0),
  block_hash text,
  block_number bigint,
  error_code text,
  risk_reason text,
  review text check (review in ('pending', 'approved', 'denied')),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index transfers_page on transfers (entity_id, create_date, id);
create index transfers_coming on transfers (blockchain, block_number)
  where direction = 'in' and status in ('pending', 'running');
create index transfers_by_block on transfers (blockchain, block_hash) where block_hash is not null;
-- The same deposit in another block after a reorg is the same transfer.
create unique index transfers_in_once on transfers (entity_id, blockchain, transaction_hash, to_address, token_id, ordinal)
  where direction = 'in';
create index transfers_waiting on transfers (blockchain, entity_id, next_attempt_at, id)
  where direction = 'out' and status = 'pending' and not submitted;
create index transfers_under_way on transfers (blockchain, entity_id)
  where direction = 'out' and status in ('pending', 'running') and submitted;
create index transfers_held on transfers (entity_id, create_date, id)
  where direction = 'out' and status = 'pending' and not submitted and waiting is not null;
create index transfers_uncredited on transfers (entity_id) where review in ('pending', 'denied');
create trigger transfers_date_later before update of update_date on transfers
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- Moves of coins from deposit addresses to the treasury.
create table sweeps (
  entity_id uuid not null,
  -- That of its on-chain transaction, and its nonce (EIP-3009): the token itself carries out no sweep twice.
  id uuid not null,
  status text not null check (status in ('pending', 'complete', 'failed')),
  blockchain text not null,
  token_id uuid not null,
  from_address text not null,
  to_address text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- In the time of the database, after which it is tried again.
  failed_at timestamptz,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index sweeps_open on sweeps (blockchain, entity_id, token_id) where status = 'pending';
create index sweeps_failed on sweeps (entity_id, blockchain, from_address, failed_at) where status = 'failed';

-- Money that came to a business account by wire. A sandbox mints it to the treasury, so that every dollar in the books is on a
-- chain, and credits it as what it is.
create table fiat_deposits (
  entity_id uuid not null,
  id uuid not null,
  wallet_id text not null,
  currency text not null,
  decimals integer not null,
  amount numeric(78, 0) not null check (amount > 0),
  tracking_ref text not null,
  account_number text not null,
  -- Where it is minted.
  blockchain text not null,
  address text not null,
  -- waiting: no process mints it yet; minting: one began to, and none does a second time. complete: credited to the
  -- wallet.
  state text not null check (state in ('waiting', 'minting', 'minted', 'complete', 'transferred', 'failed')),
  transaction_hash text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index fiat_deposits_page on fiat_deposits (entity_id, create_date, id);
create index fiat_deposits_open on fiat_deposits (entity_id, create_date) where state in ('waiting', 'minting');
create index fiat_deposits_minted on fiat_deposits (blockchain) where state = 'minted';

-- Adjustments close gaps that no block will close: each has a name, a reason and an actor, and is booked against an account
-- of its own, so that it is never mistaken for what a chain or a merchant did. docs/decisions/0031 says what they mean.
create table adjustments (
  entity_id uuid not null,
  id uuid not null,
  -- The address whose coins it corrects; empty where it corrects the money behind them, which is on no chain.
  blockchain text not null,
  address text not null,
  token_id uuid,
  currency text,
  -- The amount that the books lacked; negative when they had too much.
  amount numeric(78, 0) not null check (amount <> 0),
  reason text not null check (reason <> ''),
  actor text not null check (actor <> ''),
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  check ((token_id is null) = (currency is not null) and (token_id is null) = (blockchain = ''))
);
create trigger adjustments_append_only before update or delete on adjustments
  for each statement execute function refuse_change();
revoke update, delete on adjustments from bezant_runtime;

-- Proof that the coins of the platform are what it owes its merchants: docs/decisions/0017 says which sums are compared.

-- When the sums are compared next, by whichever process comes first.
create table money_watch (
  one boolean primary key default true check (one),
  due timestamptz not null
);

-- A sum that was not what it had to be. Written once for each amount, and never taken back.
create table money_gaps (
  entity_id uuid not null,
  id uuid not null,
  currency text not null,
  owed numeric(78, 0) not null,
  coins numeric(78, 0) not null,
  -- The coins less what accounts for them.
  gap numeric(78, 0) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index money_gaps_of_currency on money_gaps (entity_id, currency, create_date);
create trigger money_gaps_append_only before update or delete on money_gaps
  for each statement execute function refuse_change();
revoke update, delete on money_gaps from bezant_runtime;

-- The treasury's own transactions for smart accounts: bundles, the contracts that accounts need, deposits of the paymaster.
create table account_calls (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  purpose text not null check (purpose in ('bundle', 'contract', 'deposit', 'withdrawal')),
  -- Whether its end was acted on.
  settled boolean not null default false,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index account_calls_open on account_calls (blockchain, entity_id, create_date, id) where not settled;

-- Entities that allow it. Amounts are base units of the stablecoin.
create table rebalancing_policies (
  entity_id uuid primary key references entities (id),
  message_max numeric(78, 0) not null check (message_max > 0),
  -- Coins that stay on the chain that the others leave, besides those that its own disbursements need.
  reserve numeric(78, 0) not null check (reserve >= 0),
  -- A policy that was taken back stays recorded, so that a sandbox, which allows rebalancing at first, does not allow it again.
  allowed boolean not null default true,
  update_date timestamptz(3) not null
);

-- Coins that an entity's treasury moves to another chain by a message, because disbursements there lack them.
create table rebalancings (
  entity_id uuid not null,
  -- Also the id of the transaction that burns.
  id uuid not null,
  -- `collecting`: the treasury gets the coins together. `burning`: the burn is recorded. `minting`: so is the mint.
  status text not null check (status in ('collecting', 'approving', 'burning', 'minting', 'complete', 'failed')),
  currency text not null,
  source_blockchain text not null,
  source_token_id uuid not null,
  -- The chain that lacks coins.
  blockchain text not null,
  token_id uuid not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- The transactions that allow the burn and that mint.
  approval_id uuid,
  mint_id uuid,
  -- Of the message; only the treasury can deliver it.
  nonce text,
  -- The block that has the mint; null while none does.
  minted_block_hash text,
  error_reason text,
  -- Ended before, and taken up again after a reorg: it does not keep others from beginning.
  reopened boolean not null default false,
  next_attempt_at timestamptz not null default now(),
  failed_at timestamptz,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  check (source_blockchain <> blockchain),
  check (status not in ('minting', 'complete') or (nonce is not null and mint_id is not null)),
  check (status <> 'complete' or minted_block_hash is not null)
);
-- One at a time for a shortage, and one that needs the allowance of a treasury.
create unique index rebalancings_of_shortage on rebalancings (entity_id, blockchain, token_id)
  where status in ('collecting', 'approving', 'burning', 'minting') and not reopened;
create unique index rebalancings_of_allowance on rebalancings (entity_id, source_blockchain, source_token_id)
  where status in ('collecting', 'approving', 'burning') and not reopened;
create index rebalancings_to_burn on rebalancings (source_blockchain, next_attempt_at)
  where status in ('collecting', 'approving', 'burning');
create index rebalancings_to_mint on rebalancings (blockchain, next_attempt_at) where status in ('burning', 'minting');
create index rebalancings_failed on rebalancings (entity_id, blockchain, token_id, failed_at) where status = 'failed';
create index rebalancings_not_minted on rebalancings (entity_id, id) where minted_block_hash is null;
create index rebalancings_by_nonce on rebalancings (nonce) where nonce is not null;
create index rebalancings_by_block on rebalancings (blockchain, minted_block_hash) where minted_block_hash is not null;
-- Journals keep the rebalancing of a transaction beside it.
create index rebalancings_by_approval on rebalancings (entity_id, approval_id) where approval_id is not null;
create index rebalancings_by_mint on rebalancings (entity_id, mint_id) where mint_id is not null;
revoke delete on rebalancings from bezant_runtime;

-- The transactions that the sandbox's faucet signed. It belongs to no tenant: one key per chain gives to all of them.
-- A nonce is allocated by inserting the row that uses it, and the bytes are durable before they are sent.
create table faucet_transactions (
  blockchain text not null,
  nonce bigint not null check (nonce >= 0),
  tx_hash text not null,
  raw_transaction text not null,
  create_date timestamptz(3) not null,
  primary key (blockchain, nonce)
);

-- Resources of the business account as webhooks show them, see `notified_kinds`.
create view notified_payment_intents as
  select entity_id, id, update_date, null::jsonb as snapshot from payment_intents;

create view notified_payments as
  select entity_id, id, update_date, null::jsonb as snapshot from payments;

create view notified_payouts as
  select entity_id, id, update_date, null::jsonb as snapshot from payouts;

create view notified_transfers as
  select entity_id, id, update_date, null::jsonb as snapshot from transfers;

create view notified_recipients as
  select entity_id, id, update_date, null::jsonb as snapshot from recipients
  union all
  select entity_id, id, update_date, null from recipient_addresses;
