-- Reports that leave nothing out: the webhook of a transaction that reverted waits for the reason, which nodes give after its
-- block was applied; attempts to deliver are logged with the body that was sent; refused histories are known by their age.

alter table queued_events
  -- Waits for a member of its snapshot, for a time that the program bounds.
  add column is_held boolean not null default false;
create index queued_events_held on queued_events (entity_id, resource_id) where is_held;

create or replace function queue_events() returns trigger language plpgsql as $$
begin
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
    where n.kind = e.kind and n.entity_id = e.entity_id and n.id = e.resource_id::uuid) r on true
  order by e.id;
  if found then
    perform pg_notify('queued_events', '');
  end if;
  return null;
end $$;

alter table notification_attempts
  -- The beginning of the body; null of a confirmation, of attempts before this migration, and where it is that of the attempt
  -- before.
  add column request_body text,
  add column request_bytes integer;

alter table event_histories
  -- Since when nodes have refused each range that was asked for; null after one that was read.
  add column refused_since timestamptz(3);
create index event_histories_refused on event_histories (blockchain, refused_since) where refused_since is not null;
