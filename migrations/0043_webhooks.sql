-- Webhooks of the wallet product: a second line of subscriptions on the queue and the leases of the first one, and the states
-- of transactions as notifications.

-- Keys that webhooks are signed with, one pair for each scheme under one id. Installation-wide: receivers fetch the public
-- halves from this server. A row never changes.
create table webhook_keys (
  id uuid primary key,
  -- ECDSA on P-256: a SubjectPublicKeyInfo.
  public_key bytea not null,
  sealed_private_key bytea not null,
  -- Ed25519: the 32 bytes of the key, and the sealed private one.
  ed25519_public_key bytea not null check (octet_length(ed25519_public_key) = 32),
  sealed_ed25519_private_key bytea not null,
  create_date timestamptz(3) not null
);
create trigger webhook_keys_append_only before update or delete on webhook_keys
  for each statement execute function refuse_change();
revoke update, delete on webhook_keys from bezant_runtime;

alter table notification_subscriptions
  -- v1: the business account, confirmed by region. v2: the wallet product, with a name and types, on or off.
  add column line text not null default 'v1' check (line in ('v1', 'v2')),
  add column name text not null default '',
  add column enabled boolean not null default true,
  add column notification_types text[] not null default '{*}',
  -- The first failure since the last success.
  add column failing_since timestamptz(3),
  -- When its owner was told that it will be disabled.
  add column notice_date timestamptz(3);

alter table notifications
  add column line text not null default 'v1' check (line in ('v1', 'v2')),
  -- Increases with each notification of the resource.
  add column order_number bigint not null default 0;

-- The log of deliveries, by which an operator sends single notifications or a range of them again.

alter table notification_deliveries
  -- Why it was last queued: by its event, or by an operator.
  add column cause text not null default 'auto' check (cause in ('auto', 'resend', 'replay')),
  add column replay_id uuid,
  -- That of its notification, so that one that is queued again keeps its place; 0 of a confirmation.
  alter column sequence drop identity,
  alter column sequence set default 0;
update notification_deliveries w set sequence = coalesce((select n.sequence from notifications n
  where n.entity_id = w.entity_id and n.id = w.message_id), 0);
create index notification_deliveries_by_message on notification_deliveries (entity_id, message_id);
create index notification_deliveries_by_replay on notification_deliveries (entity_id, replay_id)
  where replay_id is not null;
create index notifications_page on notifications (entity_id, create_date, id);
-- Finds the notifications of a resource without their topic too.
drop index notifications_by_resource;
create index notifications_by_resource on notifications (entity_id, resource_id, topic, sequence);

alter table notification_attempts
  add column cause text not null default 'auto' check (cause in ('auto', 'resend', 'replay')),
  add column request_headers jsonb not null default '{}',
  -- Absent when there was no answer; the body is its beginning.
  add column response_headers jsonb,
  add column response_body text;

create table notification_replays (
  entity_id uuid not null,
  id uuid not null,
  subscription_id uuid not null,
  total integer not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, subscription_id) references notification_subscriptions (entity_id, id)
);

-- The part of a resource that an event leaves it with and a later one changes, as the program reads that resource.
alter table queued_events add column snapshot jsonb;

create trigger transactions_date_later before update of update_date on transactions
  for each row when (new.update_date <= old.update_date) execute function date_later();

create or replace view notified_resources as
  select 'paymentIntent' as kind, entity_id, id, update_date, null::jsonb as snapshot from payment_intents
  union all select 'payment', entity_id, id, update_date, null from payments
  union all select 'payout', entity_id, id, update_date, null from payouts
  union all select 'transfer', entity_id, id, update_date, null from transfers
  union all select 'addressBookRecipient', entity_id, id, update_date, null from recipients
  union all select 'addressBookRecipient', entity_id, id, update_date, null from recipient_addresses
  union all select 'transaction', entity_id, id, update_date, jsonb_build_object(
      'state', state, 'amounts', amounts, 'sourceAddress', source_address, 'txHash', tx_hash, 'blockHash', block_hash,
      'blockHeight', block_number, 'networkFee', network_fee::text, 'estimatedFee', estimated_fee,
      'firstConfirmDate', to_char(first_confirm_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'contractAddress', contract_address, 'errorReason', error_reason, 'errorDetails', error_details)
    from transactions where wallet_id is not null;

-- The kinds of resources of each line; the program's topics are tested against this.
create function notified_kinds(line text) returns text[] language sql immutable as $$
  select case line
    when 'v1' then array['paymentIntent', 'payment', 'payout', 'transfer', 'addressBookRecipient']
    when 'v2' then array['transaction']
  end
$$;

-- The lines on which an entity has a receiver. A disabled one counts: what it misses is logged, and can be sent later.
create view notified_lines as
  select entity_id, 'v1' as line from notification_subscription_details where status = 'confirmed'
  union all
  select entity_id, 'v2' from notification_subscriptions where line = 'v2' and removed_date is null;
create index notification_subscriptions_of_webhooks on notification_subscriptions (entity_id)
  where line = 'v2' and removed_date is null;

create or replace function queue_events() returns trigger language plpgsql as $$
begin
  insert into queued_events (entity_id, id, type, resource_id, update_date, snapshot, create_date)
  with received as materialized (
    select a.*, split_part(a.type, '.', 1) as kind from added a
    where exists (select 1 from notified_lines l where l.entity_id = a.entity_id
      and split_part(a.type, '.', 1) = any (notified_kinds(l.line)))
  )
  select e.entity_id, e.id, e.type, e.resource_id, coalesce(r.update_date, e.create_date), r.snapshot, e.create_date
  from received e left join lateral (select n.update_date, n.snapshot from notified_resources n
    where n.kind = e.kind and n.entity_id = e.entity_id and n.id = e.resource_id::uuid) r on true
  order by e.id;
  if found then
    perform pg_notify('queued_events', '');
  end if;
  return null;
end $$;
drop function notified_kinds();
