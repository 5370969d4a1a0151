-- The journals that workers keep outside the database, of everything that they send, and how far each is known here.

-- One row: what tells this database from its own older copies. A restored copy is a new incarnation; it opens an epoch in
-- which every journal has to be merged again before anything is signed.
create table journal_epochs (
  single boolean primary key default true check (single),
  installation uuid not null default gen_random_uuid(),
  epoch bigint not null default 1,
  -- Server, timeline and table that the epoch was opened in; null until the first worker starts.
  incarnation text
);
insert into journal_epochs default values;

create table journals (
  id text primary key,
  -- Where it was opened last, for whoever looks for it.
  host text not null,
  path text not null,
  -- Everything up to here is in this database: the number of records, and the hash of the frame that ends with it.
  sequence bigint not null,
  head_hash bytea not null check (octet_length(head_hash) = 32),
  state text not null check (state in ('open', 'lost')),
  merged_epoch bigint not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null
);
