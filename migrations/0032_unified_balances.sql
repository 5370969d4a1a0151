-- Burn intents that contracts sign (ERC-1271): the digest that this server signs in their name when it burns. Null where a key signed.
alter table unified_signed_intents add column digest bytea;
alter table unified_signed_intents drop constraint unified_signed_intents_signature_check;
alter table unified_signed_intents add constraint unified_signed_intents_signature_check check (
  case when digest is null then octet_length(signature) = 65
  else octet_length(digest) = 32 and octet_length(signature) <= 4096 end);

-- Subscriptions to unified balances receive the events of these addresses on the chains of these domains, and nothing else; the
-- others have neither.
alter table notification_subscriptions add column addresses text[];
alter table notification_subscriptions add column domains integer[];
alter table notification_subscriptions add constraint notification_subscriptions_watch
  check ((addresses is null) = (domains is null) and (domains is null or line = 'v2'));
create index notification_subscriptions_by_address on notification_subscriptions using gin (addresses)
  where domains is not null and removed_date is null;
-- The address and the chain that a notification of a unified balance is about.
alter table notifications add column address text;
alter table notifications add column domain integer;

-- The entities that are told of an address.
create view notification_watchers as
  select entity_id, addresses, domains from notification_subscriptions where domains is not null and removed_date is null and enabled;

-- Events of unified balances that entities are told of: once for each deposit, and for each receiver of a transfer that is
-- minted. The balances themselves belong to none.
create table gateway_events (
  entity_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('deposit.finalized', 'mint.finalized', 'mint.forwarded')),
  blockchain text not null,
  -- Names the deposit or the transfer, whatever block has it.
  subject text not null,
  address text not null,
  -- In base units.
  amount numeric(78, 0) not null,
  from_address text not null,
  to_address text not null,
  tx_hash text not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, kind, subject, address)
);
revoke update, delete on gateway_events from bezant_runtime;

create view notified_gateway_events as
  select entity_id, id, create_date as update_date, null::jsonb as snapshot from gateway_events;
insert into notified_kinds (kind, line, view) values ('gatewayEvent', 'v2', 'notified_gateway_events');
