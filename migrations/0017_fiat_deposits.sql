-- Money that came to a business account by wire. A sandbox mints it to a deposit address of the account, so that every
-- dollar in the books is on a chain; it is complete when the transfer that brought it is.

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
  -- waiting: nobody mints it yet; minting: somebody began to, which nobody does a second time.
  state text not null check (state in ('waiting', 'minting', 'minted', 'failed')),
  transaction_hash text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index fiat_deposits_page on fiat_deposits (entity_id, create_date, id);
create index fiat_deposits_open on fiat_deposits (create_date) where state in ('waiting', 'minting');
