-- Operators read in pages what a list was before, and what one actor did.

-- The cursor of a version in the history of its list.
alter table screening_versions add column id uuid not null default gen_random_uuid();
create index screening_versions_page on screening_versions (list, create_date, id);

create index audit_of_actor on audit (entity_id, actor, id);

-- The acts of an entity as readers of the trail list them: by action and resource through the indexes of the events.
create view audit_acts as
  select a.entity_id, a.id, a.actor, a.action, a.resource_id, a.request_id, a.create_date,
    e.type as event_type, e.resource_id as event_resource_id
  from audit a left join events e on e.entity_id = a.entity_id and e.id = a.id;
