-- Tenants, their API keys, idempotency, and the two append-only trails.
-- Every tenant table has entity_id in its primary key, so that rows can be sharded and isolated by tenant.

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
  create_date timestamptz(3) not null,
  revoked_date timestamptz(3),
  primary key (entity_id, id)
);
create index api_keys_by_id on api_keys (id);

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
-- What is sent is journaled with the keys of the requests behind it.
create index idempotency_keys_by_resource on idempotency_keys (entity_id, resource_id);

create table events (
  entity_id uuid not null,
  id uuid not null,
  type text not null,
  resource_id text not null,
  data jsonb not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);

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

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger events_append_only before update or delete on events for each statement execute function refuse_change();
create trigger audit_append_only before update or delete on audit for each statement execute function refuse_change();
