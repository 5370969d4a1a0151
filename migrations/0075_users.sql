-- The users of an entity's app, who hold the keys of their own wallets.

create table users (
  entity_id uuid not null,
  id uuid not null,
  -- The id that the app chose; it never changes, and the wallets and tokens of the user name it.
  user_id text not null check (char_length(user_id) between 5 and 50),
  status text not null default 'ENABLED' check (status in ('ENABLED', 'DISABLED')),
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, user_id)
);
create index users_page on users (entity_id, create_date, id);
revoke delete on users from bezant_runtime;
