-- Dollars at banks: accounts that entities link, what they redeem to them, and what comes back.

create table bank_accounts (
  entity_id uuid not null,
  id uuid not null,
  status text not null check (status in ('pending', 'complete', 'failed')),
  -- The name of the bank and the last four digits.
  description text not null,
  tracking_ref text not null,
  -- The same for the same number, and no way back to it without the root key.
  fingerprint uuid not null,
  billing_details jsonb not null,
  bank_address jsonb not null,
  -- The number, sealed; null as soon as the bank has it.
  sealed_number bytea,
  -- When a worker may hand it to the bank again, in the time of the database.
  next_attempt_at timestamptz not null default now(),
  -- When the bank of a sandbox decides about it.
  bank_due timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, tracking_ref)
);
create index bank_accounts_page on bank_accounts (entity_id, create_date, id);
create index bank_accounts_pending on bank_accounts (entity_id) where status = 'pending';
create index bank_accounts_to_hand on bank_accounts (entity_id, next_attempt_at) where sealed_number is not null;
create index bank_accounts_due on bank_accounts (entity_id, bank_due) where bank_due is not null;
create trigger bank_accounts_date_later before update of update_date on bank_accounts
  for each row when (new.update_date <= old.update_date) execute function date_later();
revoke delete on bank_accounts from bezant_runtime;

-- Payouts to linked accounts. The columns up to `risk_reason` are those of `payouts`: first the coins go to the issuer on a chain.
create table redemptions (
  entity_id uuid not null,
  id uuid not null,
  status text not null check (status in ('pending', 'complete', 'failed')),
  wallet_id text not null,
  bank_account_id uuid not null,
  bank_account_name text not null,
  blockchain text not null,
  to_address text not null,
  currency text not null,
  token_id uuid not null,
  amount numeric(78, 0) not null check (amount > 0),
  submitted boolean not null default false,
  next_attempt_at timestamptz not null default now(),
  waiting jsonb,
  transaction_hash text,
  error_code text,
  risk_reason text,
  -- sending: recorded before the order is sent to the bank, and sent again until the bank has taken it.
  bank_state text not null default 'none'
    check (bank_state in ('none', 'sending', 'sent', 'complete', 'failed', 'returned')),
  -- When the order may be sent to the bank again, in the time of the database.
  order_attempt_at timestamptz not null default now(),
  -- When the bank of a sandbox decides about it.
  bank_due timestamptz(3),
  bank_error_code text,
  return_reason text,
  tracking_ref text,
  external_ref text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index redemptions_page on redemptions (entity_id, create_date, id);
create index redemptions_by_account on redemptions (entity_id, bank_account_id, create_date, id);
create index redemptions_waiting on redemptions (blockchain, entity_id, next_attempt_at, id)
  where status = 'pending' and not submitted;
create index redemptions_under_way on redemptions (blockchain, entity_id) where status = 'pending' and submitted;
create index redemptions_held on redemptions (entity_id, create_date, id)
  where status = 'pending' and not submitted and waiting is not null;
create index redemptions_to_order on redemptions (blockchain, entity_id, order_attempt_at)
  where status = 'complete' and bank_state in ('none', 'sending');
create index redemptions_due on redemptions (entity_id, bank_due) where bank_due is not null;
create trigger redemptions_date_later before update of update_date on redemptions
  for each row when (new.update_date <= old.update_date) execute function date_later();
revoke delete on redemptions from bezant_runtime;

-- The status as its owner sees it: that of the bank, once the coins have left.
create function redemption_status(status text, bank_state text) returns text language sql immutable parallel safe as $$
  select case when bank_state in ('failed', 'returned') then 'failed'
    when bank_state = 'complete' then 'complete'
    when status = 'failed' then 'failed' else 'pending' end $$;
create index redemptions_by_status on redemptions (entity_id, redemption_status(status, bank_state), create_date, id);

-- A return of a redemption brings its coins back as a deposit does: one for each redemption.
alter table fiat_deposits add column bank_account_id uuid;
alter table fiat_deposits add column redemption_id uuid;
-- The name that the bank has for it, so that a deposit which it reports twice counts once.
alter table fiat_deposits add column bank_reference text;
create unique index fiat_deposits_of_redemption on fiat_deposits (entity_id, redemption_id) where redemption_id is not null;
create unique index fiat_deposits_by_reference on fiat_deposits (entity_id, bank_reference) where bank_reference is not null;
-- Coins that arrived once are credited once.
create unique index fiat_deposits_by_transaction on fiat_deposits (entity_id, blockchain, transaction_hash)
  where transaction_hash is not null;
create trigger fiat_deposits_date_later before update of update_date on fiat_deposits
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- Where each arrival is on the chain, and the bookings of those that came from outside: they alone pay for wires and returns.
create or replace view treasury_arrivals as
  select o.entity_id, o.blockchain, o.tx_hash, o.address, o.block_number, t.currency, o.amount, o.block_hash, o.kind, o.position
  from observed_transfers o join tokens t on t.id = o.token_id
  where o.purpose = 'treasury' and o.direction = 'in' and t.currency is not null
    and exists (select 1 from blocks b where b.blockchain = o.blockchain and b.hash = o.block_hash and b.canonical);
create view unclaimed_arrivals as
  select entity_id, fact from postings where block_hash = '' and fact like 'unclaimed:%';

create view notified_bank_accounts as
  select entity_id, id, update_date, null::jsonb as snapshot from bank_accounts;
create view notified_redemptions as
  select entity_id, id, update_date, null::jsonb as snapshot from redemptions;
create view notified_fiat_deposits as
  select entity_id, id, update_date, null::jsonb as snapshot from fiat_deposits;
insert into notified_kinds (kind, line, view) values
  ('wire', 'v1', 'notified_bank_accounts'),
  ('redemption', 'v1', 'notified_redemptions'),
  ('deposit', 'v1', 'notified_fiat_deposits'),
  ('return', 'v1', 'notified_fiat_deposits');
