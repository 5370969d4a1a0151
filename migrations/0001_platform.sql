-- The role of the program, tenants, their API keys, idempotency, and the two append-only trails.
-- Every tenant table has entity_id in its primary key, so that rows can be sharded and isolated by tenant.

-- The program runs as `bezant_runtime`, which owns nothing: books, trails and signed bytes can be added to and never be
-- rewritten, whatever the program is made to do. Who runs the migrations owns the tables.
do $$ begin
  create role bezant_runtime nologin;
exception
  -- Roles belong to the server; another database on it may have made this one, also just now.
  when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  if not pg_has_role(current_user, 'bezant_runtime', 'member') then
    execute format('grant bezant_runtime to %I', current_user);
  end if;
end $$;

-- It has these rights on each table, but for those that are revoked beside the table.
grant usage on schema public to bezant_runtime;
grant select, insert, update, delete on all tables in schema public to bezant_runtime;
alter default privileges in schema public grant select, insert, update, delete on tables to bezant_runtime;
revoke insert, update, delete on schema_migrations from bezant_runtime;

-- For tables whose rows never change.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

-- Notifications of a resource carry an order: each change dates it later than the one before, whatever the clocks of the
-- hosts say, and each event is queued with the date that its resource has by it.
create function date_later() returns trigger language plpgsql as $$
begin
  new.update_date := old.update_date + interval '1 millisecond';
  return new;
end $$;

create table entities (
  id uuid primary key,
  environment text not null check (environment in ('TEST', 'LIVE')),
  name text not null,
  app_id uuid not null,
  create_date timestamptz(3) not null
);

create table api_keys (
  entity_id uuid not null references entities (id),
  id uuid not null,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  -- The customer's interface, or the operator's. A client key, which a page may hold, has the scope `client` alone, and no other
  -- key has it.
  scopes text[] not null default '{api}'
    check (scopes = '{client}'
      or (scopes <@ array['api', 'operator:read', 'operator:write'] and cardinality(scopes) > 0)),
  create_date timestamptz(3) not null,
  revoked_date timestamptz(3),
  primary key (entity_id, id)
);
create index api_keys_by_id on api_keys (id);
create index api_keys_page on api_keys (entity_id, create_date, id);

-- A row without a resource is claimed by a request that is still being decided in an open tx.
create table idempotency_keys (
  entity_id uuid not null,
  operation text not null,
  key uuid not null,
  fingerprint bytea not null,
  resource_id text,
  create_date timestamptz(3) not null,
  primary key (entity_id, operation, key)
);
-- The journal of a sent transaction holds the keys of the requests behind it.
create index idempotency_keys_by_resource on idempotency_keys (entity_id, resource_id);

-- The origins of the sites that may show the page of users in a frame.
create table page_origins (
  entity_id uuid not null references entities (id),
  origin text not null check (length(origin) between 1 and 261),
  create_date timestamptz(3) not null,
  primary key (entity_id, origin)
);
-- A browser asks for the page without a key: any entity that lists the origin allows the frame.
create index page_origins_by_origin on page_origins (origin);
revoke update on page_origins from bezant_runtime;

-- Changes of each resource, for webhooks and for the trail.
create table events (
  entity_id uuid not null,
  id uuid not null,
  type text not null,
  resource_id text not null,
  data jsonb not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create trigger events_append_only before update or delete on events for each statement execute function refuse_change();
revoke update, delete on events from bezant_runtime;

-- Acts and their actors: one entry for each request that changed something.
create table audit (
  entity_id uuid not null,
  id uuid not null,
  actor text not null,
  action text not null,
  resource_id text not null,
  request_id text,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
-- `bezant policy history` looks for the few freezes among all that an entity ever did.
create index audit_of_freezes on audit (entity_id, create_date, id)
  where action in ('entity.frozen', 'entity.unfrozen', 'wallet.frozen', 'wallet.unfrozen');
create trigger audit_append_only before update or delete on audit for each statement execute function refuse_change();
revoke update, delete on audit from bezant_runtime;

-- Tenants take turns at the queues that they share: a claim leaps from tenant to tenant, for which each queue has an index on
-- them, and an item that cannot move is deferred, so that it holds up no other.
create table deferrals (
  entity_id uuid not null,
  queue text not null,
  -- Empty for a queue that has none.
  blockchain text not null,
  -- The name of the item in its queue: an id, or an address.
  key text not null,
  -- How it looked when it could not move; it is deferred no longer once it looks different.
  seen text not null default '',
  -- When a worker may look at it again, in the time of the database.
  next_attempt_at timestamptz not null,
  primary key (entity_id, queue, blockchain, key)
);
create index deferrals_by_age on deferrals (next_attempt_at);
