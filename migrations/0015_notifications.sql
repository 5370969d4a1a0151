-- Notifications: who asked to be told, what is to be told, and every try of telling it.

-- RSA key pairs that notifications are signed with. Installation-wide: receivers fetch the certificate from us.
create table signing_certificates (
  id uuid primary key,
  certificate text not null,
  sealed_private_key bytea not null,
  not_after timestamptz(3) not null,
  create_date timestamptz(3) not null
);

-- One endpoint of a tenant. A worker leases a whole subscription, so that a slow endpoint holds up only itself and its
-- notifications keep their order.
create table notification_subscriptions (
  entity_id uuid not null,
  id uuid not null,
  endpoint text not null,
  -- The address of the API that took the subscription: where its links lead unless configuration says otherwise.
  base_url text not null,
  environment text not null check (environment in ('TEST', 'LIVE')),
  -- When there is something to send, by business time; null for nothing.
  wake_date timestamptz(3),
  -- After failures nothing is tried before this.
  rest_date timestamptz(3),
  failure_count integer not null default 0,
  lease_until timestamptz,
  fencing_token bigint not null default 0,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  removed_date timestamptz(3),
  primary key (entity_id, id)
);
create index notification_subscriptions_waking on notification_subscriptions (wake_date) where wake_date is not null;

-- Each region of a subscription is confirmed by itself.
create table notification_subscription_details (
  entity_id uuid not null,
  id uuid not null,
  subscription_id uuid not null,
  region text not null check (region in ('us-east-1', 'us-west-2')),
  status text not null check (status in ('pending', 'confirmed', 'deleted')),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, subscription_id, region),
  foreign key (entity_id, subscription_id) references notification_subscriptions (entity_id, id)
);
create index notification_subscription_details_by_id on notification_subscription_details (id);
create index notification_subscription_details_pending on notification_subscription_details (create_date)
  where status = 'pending';

-- Events that nobody has turned into notifications yet. Written in the transaction of the event itself: however late
-- that commits, the row is there when it has, which no cursor over ids or times could promise.
create table queued_events (
  entity_id uuid not null,
  id uuid not null,
  type text not null,
  resource_id text not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);

create function queue_events() returns trigger language plpgsql as $$
begin
  insert into queued_events (entity_id, id, type, resource_id, create_date)
  select e.entity_id, e.id, e.type, e.resource_id, e.create_date from added e
  where split_part(e.type, '.', 1) in ('paymentIntent', 'payment', 'payout', 'transfer', 'addressBookRecipient')
    and exists (select 1 from notification_subscription_details d
      where d.entity_id = e.entity_id and d.status = 'confirmed');
  if found then
    perform pg_notify('queued_events', '');
  end if;
  return null;
end $$;

create trigger events_queue after insert on events referencing new table as added
  for each statement execute function queue_events();

-- What is told, as it was when it was told: a retry sends the same text under the same id, which is the event's.
create table notifications (
  entity_id uuid not null,
  id uuid not null,
  topic text not null,
  resource_id text not null,
  message text not null,
  sequence bigint generated always as identity,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index notifications_by_resource on notifications (entity_id, topic, resource_id, sequence);
create index notifications_by_age on notifications (create_date);

create table notification_deliveries (
  entity_id uuid not null,
  subscription_id uuid not null,
  message_id uuid not null,
  -- The region that shall be confirmed; null for a notification.
  detail_id uuid,
  -- Null for a confirmation.
  resource_id text,
  state text not null check (state in ('waiting', 'delivered', 'failed', 'dropped')),
  attempt_count integer not null default 0,
  sequence bigint generated always as identity,
  due_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, subscription_id, message_id),
  foreign key (entity_id, subscription_id) references notification_subscriptions (entity_id, id)
);
create index notification_deliveries_waiting on notification_deliveries (entity_id, subscription_id, sequence)
  where state = 'waiting';
create index notification_deliveries_in_order
  on notification_deliveries (entity_id, subscription_id, resource_id, sequence) where state = 'waiting';
create index notification_deliveries_by_age on notification_deliveries (update_date) where state <> 'waiting';

create table notification_attempts (
  entity_id uuid not null,
  subscription_id uuid not null,
  message_id uuid not null,
  number integer not null,
  -- Null when there was no answer.
  status integer,
  error text,
  duration_ms integer not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, subscription_id, message_id, number),
  foreign key (entity_id, subscription_id, message_id)
    references notification_deliveries (entity_id, subscription_id, message_id) on delete cascade
);
