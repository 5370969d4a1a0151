-- Ends of subscriptions cost the same at any number of subscriptions, and at any backlog.

alter table notification_subscription_details
  -- When the region counts as deleted if it is not confirmed by then.
  add column pending_until timestamptz(3);
update notification_subscription_details d
  set pending_until = d.create_date + case s.environment when 'LIVE' then interval '72 hours' else interval '30 days' end
  from notification_subscriptions s where s.entity_id = d.entity_id and s.id = d.subscription_id and d.status = 'pending';
create index notification_subscription_details_late on notification_subscription_details (pending_until)
  where status = 'pending';
drop index notification_subscription_details_pending;

alter table notification_subscriptions
  -- When it is removed if all its regions are deleted by then. Set at the end of a region.
  add column removal_date timestamptz(3),
  -- Deliveries of this position and before have ended, and the state that those which still wait will have; null for none.
  add column ended_position bigint not null default -1,
  add column ending_state text check (ending_state in ('dropped', 'failed'));
update notification_subscriptions s
  set removal_date = d.last + case s.environment when 'LIVE' then interval '72 hours' else interval '30 days' end
  from (select entity_id, subscription_id, max(update_date) as last from notification_subscription_details
    where status = 'deleted' group by entity_id, subscription_id) d
  where s.line = 'v1' and s.removed_date is null and s.entity_id = d.entity_id and s.id = d.subscription_id;
create index notification_subscriptions_removal on notification_subscriptions (removal_date) where removal_date is not null;
-- Confirmations may have the position 0, and end as well.
drop index notification_deliveries_by_position;
create index notification_deliveries_by_position on notification_deliveries (entity_id, subscription_id, position)
  where state = 'waiting' and position >= 0;
