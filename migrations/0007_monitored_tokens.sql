-- Which tokens an entity wants to see by default. Without a row in monitored_token_scopes: all of them.

create table monitored_token_scopes (
  entity_id uuid primary key references entities (id),
  scope text not null check (scope in ('SELECTED', 'MONITOR_ALL')),
  update_date timestamptz(3) not null
);

create table monitored_tokens (
  entity_id uuid not null references entities (id),
  token_id uuid not null references tokens (id),
  create_date timestamptz(3) not null,
  primary key (entity_id, token_id)
);
