-- Operators list what is waiting, failed or dropped, which is little among the delivered notifications of an entity.

create index notification_deliveries_undelivered on notification_deliveries (entity_id, state, message_id)
  where state in ('waiting', 'failed', 'dropped');
