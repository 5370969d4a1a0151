-- Logins of users by e-mail: devices, one-time codes and their limits, and sessions that are renewed.

-- The one active token of each device of a page.
create table device_tokens (
  entity_id uuid not null,
  device_id text not null,
  -- The claim `jti`.
  id uuid not null,
  sealed_encryption_key bytea not null,
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, device_id)
);

-- One-time codes that were sent. A code has a million values, so its MAC is made under the root key.
create table login_codes (
  entity_id uuid not null,
  id uuid not null,
  device_id text not null,
  email text not null,
  code_mac bytea not null check (octet_length(code_mac) = 32),
  -- Counted before the code is compared, so that no crash makes an entry free.
  entries integer not null default 0 check (entries between 0 and 3),
  -- When it was used, or replaced by another one.
  ended_date timestamptz(3),
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);

-- The sends and entries of an address since its last login. Each limit ends an hour after the last one that counted.
create table login_limits (
  entity_id uuid not null,
  email text not null,
  sends integer not null default 0 check (sends between 0 and 5),
  last_send_date timestamptz(3),
  entries integer not null default 0 check (entries between 0 and 5),
  last_entry_date timestamptz(3),
  primary key (entity_id, email)
);

-- The users behind proven addresses.
create table user_emails (
  entity_id uuid not null,
  email text not null,
  user_id text not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, email),
  foreign key (entity_id, user_id) references users (entity_id, user_id)
);

-- A session begins with a login: a family of tokens, of which each is renewed once.
create table user_sessions (
  entity_id uuid not null,
  id uuid not null,
  user_id text not null,
  device_id text not null,
  -- When a used refresh token came again: from then on no token of the session counts.
  ended_date timestamptz(3),
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, user_id) references users (entity_id, user_id)
);

create table refresh_tokens (
  entity_id uuid not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  session_id uuid not null,
  used_date timestamptz(3),
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, sha256),
  foreign key (entity_id, session_id) references user_sessions (entity_id, id)
);

alter table user_tokens add column session_id uuid,
  add constraint user_tokens_session_fkey foreign key (entity_id, session_id) references user_sessions (entity_id, id);

-- Answers with tokens, sealed, for requests that are repeated with their key.
create table sealed_answers (
  entity_id uuid not null,
  id uuid not null,
  sealed bytea not null,
  primary key (entity_id, id)
);
