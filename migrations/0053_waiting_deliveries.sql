-- Without statistics of a burst, the planner chose this index to look for earlier deliveries of a resource, and read all
-- waiting deliveries of the tenant for each delivery that was due. Every row meets the condition on message_id, but only
-- queries that look for messages imply it, so that no other query can use the index.

drop index notification_deliveries_undelivered;
create index notification_deliveries_undelivered on notification_deliveries (entity_id, state, message_id)
  where state in ('waiting', 'failed', 'dropped') and message_id is not null;
