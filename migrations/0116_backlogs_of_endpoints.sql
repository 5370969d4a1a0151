-- Finding the next delivery of an endpoint, and when it is due, costs the same at any backlog, and a backlog is bounded.

alter table notification_subscriptions
  -- Number of deliveries that were ever queued for it, which is the position of the newest.
  add column queued_count bigint not null default 0,
  -- Number of waiting deliveries that were dropped because too many newer ones were queued, and the date of the last.
  add column dropped_count bigint not null default 0,
  add column dropped_date timestamptz(3);

alter table notification_deliveries
  -- Its place among all that were queued for the subscription, which bounds the backlog.
  add column position bigint not null default 0;

-- Each of these serves one question, whose condition alone implies its predicate: before a burst is analysed, PostgreSQL takes
-- any index of waiting deliveries for as good as the right one, and would read all that waits.

-- The order in which deliveries are due. One that an earlier delivery of its resource blocks takes over the date of that one
-- when it is met, so no statement looks for the first that is not blocked.
create index notification_deliveries_due on notification_deliveries (entity_id, subscription_id, due_date, sequence)
  where state = 'waiting' and due_date > '-infinity';
drop index notification_deliveries_waiting;
-- The oldest of a backlog. Those that were queued before this migration have no position, and end within three days.
create index notification_deliveries_by_position on notification_deliveries (entity_id, subscription_id, position)
  where state = 'waiting' and position > 0;
-- Those that block later ones of their resource: one that was attempted five times blocks none.
drop index notification_deliveries_in_order;
create index notification_deliveries_in_order
  on notification_deliveries (entity_id, subscription_id, resource_id, sequence)
  where state = 'waiting' and attempt_count < 5;
-- The oldest of all, for metrics.
create index notification_deliveries_oldest on notification_deliveries (create_date) where state = 'waiting';
-- Old replays are removed every ten seconds.
create index notification_replays_by_age on notification_replays (create_date);
