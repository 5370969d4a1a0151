-- The log of answered requests. It is written after the answers, and rows that the database cannot keep up with are dropped, so
-- nothing may depend on it. It holds no secrets: only values that the schemas of an operation allow.

create table requests (
  entity_id uuid not null,
  id uuid not null,
  -- The X-Request-Id of the caller, where it is a UUID; without one from the caller it is the id.
  request_id uuid,
  -- Null where the token of a user names the entity.
  api_key_id uuid,
  method text not null,
  -- The documented path, with the names of its parameters.
  route text not null,
  path text not null,
  status integer not null,
  -- The code of a refusal.
  code integer,
  idempotency_key uuid,
  resource_id uuid,
  -- Whether the answer repeats that of an earlier request with the same idempotency key.
  replayed boolean not null,
  duration_ms integer not null,
  ip text,
  user_agent text,
  -- When it was answered, in real time: the clock of a sandbox may differ from it.
  answered_at timestamptz(3) not null default clock_timestamp(),
  -- When it was answered, in business time.
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
-- Each filter of the list has an index in the order of its pages: a rare value is found among any number of others.
create index requests_page on requests (entity_id, create_date, id);
create index requests_by_method on requests (entity_id, method, create_date, id);
create index requests_by_route on requests (entity_id, route, create_date, id);
create index requests_by_status on requests (entity_id, status, create_date, id);
create index requests_by_class on requests (entity_id, (status / 100), create_date, id);
create index requests_by_key on requests (entity_id, api_key_id, create_date, id) where api_key_id is not null;
create index requests_by_resource on requests (entity_id, resource_id, create_date, id) where resource_id is not null;
create index requests_by_idempotency_key on requests (entity_id, idempotency_key, create_date, id)
  where idempotency_key is not null;
create index requests_by_request_id on requests (entity_id, request_id, create_date, id) where request_id is not null;
-- The oldest of all are removed. Every row meets the condition, but only that statement implies it: in a table that is mostly of
-- one tenant, the planner would take this index for the pages of another.
create index requests_by_age on requests (create_date) where duration_ms >= 0;
revoke update on requests from bezant_runtime;

-- Headers and bodies, apart from the rows of the list: they are large, and kept for a shorter time.
create table request_bodies (
  entity_id uuid not null,
  id uuid not null,
  request_headers jsonb not null,
  response_headers jsonb not null,
  -- The allowed parts as JSON, or the beginning of a long text; null without a body.
  request_body text,
  -- Size of the whole text.
  request_bytes integer,
  -- SHA-256 of the whole text, in hexadecimal, where only its beginning is kept.
  request_sha256 text,
  response_body text,
  response_bytes integer,
  response_sha256 text,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index request_bodies_by_age on request_bodies (create_date);
revoke update on request_bodies from bezant_runtime;
