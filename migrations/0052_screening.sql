-- Address screening: the lists of the installation with every version of their entries, and the screenings of tenants. Lists
-- belong to the operator and apply to all entities.

create table screening_lists (
  name text primary key,
  kind text not null check (kind in ('sanctions', 'block', 'allow')),
  version integer not null check (version > 0)
);

-- The trail of changes: who made which version, and from which file.
create table screening_versions (
  list text not null references screening_lists (name),
  version integer not null,
  change text not null check (change in ('import', 'add', 'remove', 'rollback')),
  -- The version with the same entries, for one that a rollback made; otherwise its own number.
  contents_of integer not null,
  entries_count integer not null,
  added_count integer not null,
  removed_count integer not null,
  -- The name and SHA-256 of an imported file.
  source text,
  source_hash text,
  reason text,
  actor text not null,
  create_date timestamptz(3) not null,
  primary key (list, version)
);
create trigger screening_versions_append_only before update or delete on screening_versions
  for each statement execute function refuse_change();

-- An entry is in the versions from `from_version` up to, and without, `to_version`. The primary key begins with the columns
-- of the lookup.
create table screening_entries (
  address text not null,
  space text not null,
  list text not null references screening_lists (name),
  from_version integer not null,
  to_version integer check (to_version > from_version),
  -- The number of the entry in its source, such as the uid of a sanctioned person.
  reference text,
  primary key (address, space, list, from_version)
);
create unique index screening_entries_present on screening_entries (list, address, space) where to_version is null;

create table screenings (
  entity_id uuid not null,
  id uuid not null,
  chain text not null,
  -- As the caller spelled it, and as lists name it.
  address text not null,
  canonical_address text not null,
  result text not null check (result in ('APPROVED', 'DENIED')),
  rule_name text,
  actions text[] not null,
  reasons jsonb not null,
  -- The versions of the lists that were consulted, and the entries that matched.
  evidence jsonb not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index screenings_page on screenings (entity_id, create_date, id);
create index screenings_denied on screenings (entity_id, create_date, id) where result = 'DENIED';
create index screenings_of_address on screenings (entity_id, canonical_address, create_date, id);
create trigger screenings_append_only before update or delete on screenings
  for each statement execute function refuse_change();

revoke update, delete on screenings, screening_versions, screening_entries from bezant_runtime;
grant update (to_version) on screening_entries to bezant_runtime;
