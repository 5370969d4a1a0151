-- A hash chain over the audit entries of each entity, with signed heads. An entry is written without a link, in the tx of what it
-- tells; a worker links entries in batches, so that no row of the chain is shared by requests.

-- Entries without a link. The queue gets its row with the entry itself: however late that commits, it is linked.
create table unlinked_audit (
  entity_id uuid not null,
  id uuid not null,
  sequence bigint generated always as identity,
  primary key (entity_id, id)
);
create index unlinked_audit_in_order on unlinked_audit (entity_id, sequence);
revoke update on unlinked_audit from bezant_runtime;

create table audit_links (
  entity_id uuid not null,
  position bigint not null check (position > 0),
  audit_id uuid not null,
  -- The hash of the link at the position before; zeros at the first.
  previous bytea not null check (octet_length(previous) = 32),
  -- The hash of the entry with its event.
  entry_hash bytea not null check (octet_length(entry_hash) = 32),
  hash bytea not null check (octet_length(hash) = 32),
  primary key (entity_id, position),
  unique (entity_id, audit_id)
);
create trigger audit_links_append_only before update or delete or truncate on audit_links
  for each statement execute function refuse_change();
revoke update, delete on audit_links from bezant_runtime;

-- The last link of each batch, signed. The heads of an entity cover its positions without a gap.
create table audit_heads (
  entity_id uuid not null,
  position bigint not null,
  first_position bigint not null check (first_position between 1 and position),
  hash bytea not null check (octet_length(hash) = 32),
  signature bytea not null check (octet_length(signature) = 64),
  create_date timestamptz(3) not null,
  primary key (entity_id, position),
  foreign key (entity_id, position) references audit_links (entity_id, position)
);
create trigger audit_heads_append_only before update or delete or truncate on audit_heads
  for each statement execute function refuse_change();
revoke update, delete on audit_heads from bezant_runtime;

-- Every column of an entry and of its event, as text that depends on no setting of a session.
create view audit_entries as
  select a.entity_id, a.id, a.actor, a.action, a.resource_id, a.request_id,
    to_char(a.create_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as create_date,
    e.type as event_type, e.resource_id as event_resource_id, e.data::text as data,
    to_char(e.create_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as event_date
  from audit a left join events e on e.entity_id = a.entity_id and e.id = a.id;

create function queue_audit() returns trigger language plpgsql as $$
begin
  insert into unlinked_audit (entity_id, id) select entity_id, id from added order by create_date, id;
  return null;
end $$;
create trigger audit_queue after insert on audit referencing new table as added
  for each statement execute function queue_audit();
