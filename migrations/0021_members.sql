-- People who use the console: members, their roles in entities, their sessions, and the sign-ins that failed. All dates are in the
-- time of the database: business time that stands still or jumps ends no session.
create table members (
  id uuid primary key,
  name text not null unique check (name = lower(name) and length(name) between 1 and 64),
  password_salt bytea not null,
  password_hash bytea not null check (octet_length(password_hash) = 32),
  -- The cost of scrypt for this hash: N = 2 ^ password_cost.
  password_cost smallint not null check (password_cost between 10 and 20),
  -- The key of one-time codes, sealed, and the period of the last code that was used.
  code_key bytea,
  code_step bigint not null default 0,
  create_date timestamptz(3) not null default now(),
  disabled_date timestamptz(3)
);

create table member_roles (
  entity_id uuid not null references entities (id),
  member_id uuid not null references members (id),
  role text not null check (role in ('viewer', 'developer', 'operator')),
  create_date timestamptz(3) not null default now(),
  primary key (entity_id, member_id)
);
create index member_roles_by_member on member_roles (member_id);

-- A session is found by the hash of the token in its cookie.
create table member_sessions (
  entity_id uuid not null,
  token_hash bytea not null check (octet_length(token_hash) = 32),
  member_id uuid not null references members (id),
  -- Whether its sign-in had a one-time code.
  has_code boolean not null,
  create_date timestamptz(3) not null default now(),
  used_date timestamptz(3) not null default now(),
  primary key (entity_id, token_hash),
  foreign key (entity_id, member_id) references member_roles (entity_id, member_id) on delete cascade
);
create index member_sessions_by_token on member_sessions (token_hash);
create index member_sessions_by_member on member_sessions (member_id);

-- Sign-ins since the last one that succeeded, for each member and group of addresses.
create table member_tries (
  member_id uuid not null references members (id),
  address_group smallint not null,
  tries integer not null,
  update_date timestamptz(3) not null default now(),
  primary key (member_id, address_group)
);
