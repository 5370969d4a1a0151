-- Money that merchants send, the treasuries that it leaves from, and the sweeps that fill them.

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

create table payouts (
  entity_id uuid not null,
  id uuid not null,
  status text not null check (status in ('pending', 'complete', 'failed')),
  wallet_id text not null,
  -- The recipient of the address book, and where he was when the payout was accepted.
  recipient_id uuid not null,
  chain text not null,
  blockchain text not null,
  to_address text not null,
  -- Who sends, for the travel rule.
  identities jsonb,
  currency text not null,
  token_id uuid not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- Whether the on-chain transaction that pays it exists: that has the same id, so there is never a second one.
  submitted boolean not null default false,
  transaction_hash text,
  error_code text,
  risk_reason text,
  -- When a worker may look at it again, in the time of the database.
  look_after timestamptz not null default now(),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index payouts_page on payouts (entity_id, create_date, id);
create index payouts_by_status on payouts (entity_id, status, create_date, id);
create index payouts_by_recipient on payouts (entity_id, recipient_id, create_date, id);
create index payouts_waiting on payouts (blockchain, create_date, id) where status = 'pending' and not submitted;
create index payouts_under_way on payouts (blockchain) where status = 'pending' and submitted;

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
  transaction_hash text,
  -- What came in: as in `payments`.
  ordinal integer check (ordinal >= 0),
  block_hash text,
  block_number bigint,
  error_code text,
  risk_reason text,
  look_after timestamptz not null default now(),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index transfers_page on transfers (entity_id, create_date, id);
create index transfers_waiting on transfers (blockchain, create_date, id)
  where direction = 'out' and status = 'pending' and not submitted;
create index transfers_under_way on transfers (blockchain)
  where direction = 'out' and status in ('pending', 'running') and submitted;
create index transfers_coming on transfers (blockchain, block_number)
  where direction = 'in' and status in ('pending', 'running');
create index transfers_by_block on transfers (blockchain, block_hash) where block_hash is not null;
-- The same deposit in another block after a reorg is the same transfer.
create unique index transfers_in_once on transfers (entity_id, blockchain, transaction_hash, to_address, token_id, ordinal)
  where direction = 'in';

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

-- `money` of a merchant's wallet is held for a payout or transfer; its transaction has the same id, and holds coins apart from it.
alter table holds drop constraint holds_purpose_check;
alter table holds add constraint holds_purpose_check check (purpose in ('amount', 'fee', 'money'));

-- How the transactions of platform keys stand, for the engine above that asked for them.
create view platform_transactions as
  select entity_id, id, state, tx_hash, block_number, error_reason, error_details from transactions
  where transaction_type = 'OUTBOUND' and wallet_id is null;

-- Customers see the transactions of their wallets, not those of the treasury.
drop index transactions_page;
create index transactions_page on transactions (entity_id, create_date, id) where wallet_id is not null;
