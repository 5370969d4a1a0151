-- The addresses of a business account: its own ones elsewhere, which it withdraws to, and those that it is paid at.

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
  -- Whether somebody has to verify it: its entity is of a country that wants to know whose it is, and nobody said.
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
create index recipient_addresses_to_verify on recipient_addresses (update_date)
  where status = 'pending_verification' and not needs_identity and deleted_date is null;
create index recipient_addresses_on_hold on recipient_addresses (hold_until)
  where status = 'verification_succeeded' and deleted_date is null;

-- A deposit address without a payment intent is the business account's own: one for each chain and currency.
alter table deposit_addresses alter column payment_intent_id drop not null;
create unique index deposit_addresses_of_wallet on deposit_addresses (entity_id, chain, currency)
  where payment_intent_id is null;
