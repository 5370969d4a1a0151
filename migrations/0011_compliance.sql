-- Address screening: the lists of the installation with every version of their entries, and the screenings of tenants. Lists
-- belong to the operator and apply to all entities.

create table screening_lists (
  name text primary key,
  -- `issuer`: the blocklist of a stablecoin's issuer, as its events tell of it, with a version for each block that changes it.
  kind text not null check (kind in ('sanctions', 'block', 'allow', 'issuer')),
  version integer not null check (version > 0)
);

-- The trail of changes: who made which version, and from which file.
create table screening_versions (
  list text not null references screening_lists (name),
  version integer not null,
  change text not null check (change in ('import', 'add', 'remove', 'rollback', 'chain')),
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
revoke update, delete on screening_versions from bezant_runtime;

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
revoke update, delete on screening_entries from bezant_runtime;
grant update (to_version) on screening_entries to bezant_runtime;

-- The changes of each block, to undo them when the block is orphaned.
create table issuer_changes (
  blockchain text not null,
  block_hash text not null,
  list text not null references screening_lists (name),
  space text not null,
  address text not null,
  blocked boolean not null,
  primary key (blockchain, block_hash, list, address)
);

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
revoke update, delete on screenings from bezant_runtime;

-- Transactions, payments and transfers that wait for an operator, and what was decided about each.
create table reviews (
  entity_id uuid not null,
  -- That of what is reviewed.
  id uuid not null,
  resource text not null check (resource in ('transaction', 'payment', 'transfer')),
  state text not null default 'pending' check (state in ('pending', 'approved', 'denied', 'withdrawn')),
  rule_name text not null,
  -- The operator who approved first, where two have to.
  first_approver text,
  decided_by text,
  reason text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  check ((state in ('approved', 'denied')) = (decided_by is not null))
);
create index reviews_page on reviews (entity_id, create_date, id);
create index reviews_pending on reviews (entity_id, create_date, id) where state = 'pending';
create index reviews_holding on reviews (entity_id, id) where resource = 'transaction' and state in ('pending', 'denied');

-- Transactions whose money waits for an operator, or stays held because one denied it.
create view held_reviews as
  select entity_id, id from reviews where resource = 'transaction' and state in ('pending', 'denied');

-- Answers of an outside provider of screening, kept until they expire.
create table provider_answers (
  chain text not null,
  address text not null,
  actions text[] not null,
  rule_name text not null,
  risk_score text not null,
  risk_category text not null,
  create_date timestamptz(3) not null,
  expire_date timestamptz(3) not null,
  primary key (chain, address)
);

-- Every address that a list may come to name: where the installation keeps money, and where customers pay to.
create view screened_addresses as
  select entity_id, purpose as resource, owner_id as id, blockchain as chain, address from managed_addresses
  union all
  select entity_id, 'recipient', id, chain, address from recipients where deleted_date is null
  union all
  select entity_id, 'recipientAddress', id, chain, address from recipient_addresses where deleted_date is null;
