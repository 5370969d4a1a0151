-- The events of an entity with a receiver joined all resources of all entities by hash: the cost of one event was that of the
-- largest table. With a limit the resource is looked up for each event, in the table of its kind alone.
create or replace function queue_events() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from added a join notified_lines l on l.entity_id = a.entity_id) then
    return null;
  end if;
  insert into queued_events (entity_id, id, type, resource_id, update_date, snapshot, is_held, create_date)
  with received as materialized (
    select a.*, split_part(a.type, '.', 1) as kind from added a
    where exists (select 1 from notified_lines l where l.entity_id = a.entity_id
      and split_part(a.type, '.', 1) = any (notified_kinds(l.line)))
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

-- Lines are found by the entity: the index of pending regions serves none.
create index notification_subscription_details_confirmed on notification_subscription_details (entity_id)
  where status = 'confirmed';
