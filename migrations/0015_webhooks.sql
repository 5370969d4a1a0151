-- Notifications: who asked to be told, what is to be told, and every try of telling it.

-- One endpoint of a tenant. A worker leases a whole subscription, so that a slow endpoint holds up only itself and its
-- notifications keep their order.
create table notification_subscriptions (
  entity_id uuid not null,
  id uuid not null,
  -- v1: the business account, confirmed by region. v2: the wallet product, with a name and types, on or off.
  line text not null default 'v1' check (line in ('v1', 'v2')),
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
  name text not null default '',
  enabled boolean not null default true,
  notification_types text[] not null default '{*}',
  -- The first failure since the last success.
  failing_since timestamptz(3),
  -- When its owner was told that it will be disabled.
  notice_date timestamptz(3),
  -- Number of deliveries that were ever queued for it, which is the position of the newest.
  queued_count bigint not null default 0,
  -- Number of waiting deliveries that were dropped because too many newer ones were queued, and the date of the last.
  dropped_count bigint not null default 0,
  dropped_date timestamptz(3),
  -- When it is removed if all its regions are deleted by then. Set at the end of a region.
  removal_date timestamptz(3),
  -- Deliveries of this position and before have ended, and the state that those which still wait will have; null for none.
  ended_position bigint not null default -1,
  ending_state text check (ending_state in ('dropped', 'failed')),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  removed_date timestamptz(3),
  primary key (entity_id, id)
);
create index notification_subscriptions_waking on notification_subscriptions (entity_id, wake_date)
  where wake_date is not null;
create index notification_subscriptions_of_webhooks on notification_subscriptions (entity_id)
  where line = 'v2' and removed_date is null;
create index notification_subscriptions_failing on notification_subscriptions (entity_id, failing_since)
  where failing_since is not null and removed_date is null;
create index notification_subscriptions_removal on notification_subscriptions (removal_date) where removal_date is not null;

-- Each region of a subscription is confirmed by itself.
create table notification_subscription_details (
  entity_id uuid not null,
  id uuid not null,
  subscription_id uuid not null,
  region text not null check (region in ('us-east-1', 'us-west-2')),
  status text not null check (status in ('pending', 'confirmed', 'deleted')),
  -- When the region counts as deleted if it is not confirmed by then.
  pending_until timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, subscription_id, region),
  foreign key (entity_id, subscription_id) references notification_subscriptions (entity_id, id)
);
create index notification_subscription_details_by_id on notification_subscription_details (id);
-- Lines are found by the entity: the index of pending regions serves none.
create index notification_subscription_details_confirmed on notification_subscription_details (entity_id)
  where status = 'confirmed';
create index notification_subscription_details_late on notification_subscription_details (pending_until)
  where status = 'pending';

-- Events that no worker has turned into notifications yet. Written in the transaction of the event itself: however late
-- that commits, the row is there when it has, which no cursor over ids or times could promise.
create table queued_events (
  entity_id uuid not null,
  id uuid not null,
  type text not null,
  resource_id text not null,
  -- Rows of one resource are written one after another, in the lock of that resource; ids are made by the clocks of hosts.
  sequence bigint generated always as identity,
  -- The part of a resource that an event leaves it with and a later one changes, as the program reads that resource.
  snapshot jsonb,
  -- Waits for a member of its snapshot, for a time that the program bounds.
  is_held boolean not null default false,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index queued_events_in_order on queued_events (entity_id, sequence);
create index queued_events_held on queued_events (entity_id, resource_id) where is_held;

-- The texts that are sent, as they were at the first attempt: a retry sends the same text under the same id, which is the
-- event's.
create table notifications (
  entity_id uuid not null,
  id uuid not null,
  line text not null default 'v1' check (line in ('v1', 'v2')),
  topic text not null,
  resource_id text not null,
  message text not null,
  sequence bigint generated always as identity,
  -- Increases with each notification of the resource.
  order_number bigint not null default 0,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index notifications_by_age on notifications (create_date);
create index notifications_page on notifications (entity_id, create_date, id);
-- Finds the notifications of a resource without their topic too.
create index notifications_by_resource on notifications (entity_id, resource_id, topic, sequence);

-- A notification for one subscription, or what confirms a region of it.
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
  -- That of its notification, so that one that is queued again keeps its place; 0 of a confirmation.
  sequence bigint not null default 0,
  due_date timestamptz(3) not null,
  -- Why it was last queued: by its event, or by an operator.
  cause text not null default 'auto' check (cause in ('auto', 'resend', 'replay')),
  replay_id uuid,
  -- Its place among all that were queued for the subscription, which bounds the backlog.
  position bigint not null default 0,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, subscription_id, message_id),
  foreign key (entity_id, subscription_id) references notification_subscriptions (entity_id, id)
);
-- Finding the next delivery of an endpoint, and when it is due, costs the same at any backlog, and a backlog is bounded. Each of
-- the indexes on what waits serves one question, whose condition alone implies its predicate: before a burst is analysed,
-- PostgreSQL takes any index of waiting deliveries for as good as the right one, and would read all that waits.
create index notification_deliveries_by_age on notification_deliveries (update_date) where state <> 'waiting';
create index notification_deliveries_by_message on notification_deliveries (entity_id, message_id);
create index notification_deliveries_by_replay on notification_deliveries (entity_id, replay_id)
  where replay_id is not null;
-- Operators list what is waiting, failed or dropped, which is little among the delivered notifications of an entity. Every row
-- meets the condition on message_id, but only queries that look for messages imply it: without statistics of a burst, the
-- planner would take this index to look for earlier deliveries of a resource.
create index notification_deliveries_undelivered on notification_deliveries (entity_id, state, message_id)
  where state in ('waiting', 'failed', 'dropped') and message_id is not null;
-- The order in which deliveries are due. One that an earlier delivery of its resource blocks takes over the date of that one
-- when it is met, so no statement looks for the first that is not blocked.
create index notification_deliveries_due on notification_deliveries (entity_id, subscription_id, due_date, sequence)
  where state = 'waiting' and due_date > '-infinity';
-- Deliveries that block later ones of their resource: one that was attempted five times blocks none.
create index notification_deliveries_in_order
  on notification_deliveries (entity_id, subscription_id, resource_id, sequence)
  where state = 'waiting' and attempt_count < 5;
-- The oldest of all, for metrics.
create index notification_deliveries_oldest on notification_deliveries (create_date) where state = 'waiting';
-- Confirmations may have the position 0, and end as well.
create index notification_deliveries_by_position on notification_deliveries (entity_id, subscription_id, position)
  where state = 'waiting' and position >= 0;

-- The log of deliveries, by which an operator sends single notifications or a range of them again.
create table notification_attempts (
  entity_id uuid not null,
  subscription_id uuid not null,
  message_id uuid not null,
  number integer not null,
  request_headers jsonb not null default '{}',
  -- The beginning of the body; null of a confirmation, and where it is that of the attempt before.
  request_body text,
  request_bytes integer,
  -- Null when there was no answer.
  status integer,
  error text,
  duration_ms integer not null,
  cause text not null default 'auto' check (cause in ('auto', 'resend', 'replay')),
  -- Absent when there was no answer; the body is its beginning.
  response_headers jsonb,
  response_body text,
  create_date timestamptz(3) not null,
  primary key (entity_id, subscription_id, message_id, number),
  foreign key (entity_id, subscription_id, message_id)
    references notification_deliveries (entity_id, subscription_id, message_id) on delete cascade
);

-- Ranges of notifications that an operator had sent again.
create table notification_replays (
  entity_id uuid not null,
  id uuid not null,
  subscription_id uuid not null,
  total integer not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, subscription_id) references notification_subscriptions (entity_id, id)
);
-- Old replays are removed every ten seconds.
create index notification_replays_by_age on notification_replays (create_date);

-- The kinds of resources that are told, by the first part of the types of their events; events of other kinds are not queued.
-- `view` names the rows of the kind: entity_id, id, update_date, and snapshot, the columns that change as JSON, or null.
create table notified_kinds (
  kind text primary key,
  line text not null check (line in ('v1', 'v2')),
  view text not null
);
revoke insert, update, delete on notified_kinds from bezant_runtime;

-- Builds the view `notified_resources` of all kinds. One view with a branch for each, so that a statement that names the kind
-- reads its table alone.
create function build_notified_resources() returns trigger language plpgsql as $$
begin
  execute 'create or replace view notified_resources as ' || (
    select string_agg(
      format('select %L::text as kind, entity_id, id, update_date, snapshot from %I', kind, view), ' union all ' order by kind)
    from notified_kinds);
  return null;
end $$;
create trigger notified_kinds_build after insert or update or delete on notified_kinds
  for each statement execute function build_notified_resources();
insert into notified_kinds (kind, line, view) values
  ('paymentIntent', 'v1', 'notified_payment_intents'),
  ('payment', 'v1', 'notified_payments'),
  ('payout', 'v1', 'notified_payouts'),
  ('transfer', 'v1', 'notified_transfers'),
  ('addressBookRecipient', 'v1', 'notified_recipients'),
  ('transaction', 'v2', 'notified_transactions'),
  ('eventLog', 'v2', 'notified_event_logs'),
  ('userOperation', 'v2', 'notified_user_operations'),
  ('modularTransfer', 'v2', 'notified_modular_transfers'),
  ('challenge', 'v2', 'notified_challenges');

-- The lines on which an entity has a receiver. A disabled one counts: what it misses is logged, and can be sent later.
create view notified_lines as
  select entity_id, 'v1' as line from notification_subscription_details where status = 'confirmed'
  union all
  select entity_id, 'v2' from notification_subscriptions where line = 'v2' and removed_date is null;

-- Most changes are of entities without a receiver: they need none of the work, nor a plan of it on each connection. With a limit
-- the resource is looked up for each event, in the table of its kind alone.
create function queue_events() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from added a join notified_lines l on l.entity_id = a.entity_id) then
    return null;
  end if;
  insert into queued_events (entity_id, id, type, resource_id, update_date, snapshot, is_held, create_date)
  with received as materialized (
    select a.*, k.kind from added a join notified_kinds k on k.kind = split_part(a.type, '.', 1)
    where exists (select 1 from notified_lines l where l.entity_id = a.entity_id and l.line = k.line)
  )
  select e.entity_id, e.id, e.type, e.resource_id, coalesce(r.update_date, e.create_date), r.snapshot,
    e.type = 'transaction.failed' and r.snapshot is not null and r.snapshot ->> 'errorReason' = 'FAILED_ON_CHAIN'
      and r.snapshot ->> 'errorDetails' is null,
    e.create_date
  from received e left join lateral (select n.update_date, n.snapshot from notified_resources n
    where n.kind = e.kind and n.entity_id = e.entity_id and n.id = e.resource_id::uuid limit 1) r on true
  order by e.id;
  if found then
    perform pg_notify('queued_events', '');
  end if;
  return null;
end $$;
create trigger events_queue after insert on events referencing new table as added
  for each statement execute function queue_events();
