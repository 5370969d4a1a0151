-- Keys of users, which they alone open: with a PIN, with answers to their questions, or with a secret of their device.

-- A user's wallet set belongs to that user, and only the user's key opens it. Here and below, users have their internal id.
alter table wallet_sets
  add column user_id uuid,
  add constraint wallet_sets_user_fkey foreign key (entity_id, user_id) references users (entity_id, id),
  add constraint wallet_sets_user_of_custody check ((custody_type = 'ENDUSER') = (user_id is not null));
create unique index wallet_sets_by_user on wallet_sets (entity_id, user_id) where user_id is not null;

-- Class `user`: sealed under the key of a user.
alter table keys
  drop constraint keys_class_check,
  add constraint keys_class_check check (class in ('wallet', 'platform', 'user'));

create table user_keys (
  entity_id uuid not null,
  user_id uuid not null,
  -- A random secret that is mixed into everything that opens the key; sealed under the root key.
  sealed_secret bytea not null,
  -- The questions whose answers open the key, in their order; null until they are set, once.
  questions text[] check (cardinality(questions) between 1 and 10),
  create_date timestamptz(3) not null,
  primary key (entity_id, user_id),
  foreign key (entity_id, user_id) references users (entity_id, id)
);

-- The same key, sealed once for each secret that opens it, and then under the root key.
create table user_key_wraps (
  entity_id uuid not null,
  user_id uuid not null,
  kind text not null check (kind in ('pin', 'answers', 'device', 'recovery')),
  -- The device; empty for the other kinds, of which a user has one each.
  slot text not null,
  sealed_key bytea not null,
  -- How a PIN or answers are stretched: argon2id. Secrets of devices are random, and need none.
  salt bytea check (octet_length(salt) = 16),
  memory_kib integer,
  passes integer,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, user_id, kind, slot),
  foreign key (entity_id, user_id) references user_keys (entity_id, user_id),
  check ((kind = 'device') = (slot <> '')),
  check (num_nulls(salt, memory_kib, passes) = case when kind in ('pin', 'answers') then 0 else 3 end)
);

-- Guesses at a PIN or at answers. A guess is counted and committed before it is compared.
create table user_key_guesses (
  entity_id uuid not null,
  user_id uuid not null,
  kind text not null check (kind in ('pin', 'answers')),
  -- All guesses ever counted; it never falls.
  counted bigint not null default 0,
  -- The last guess that does not count any more, because one after it or itself was right or a lock ended.
  cleared bigint not null default 0,
  -- Locks since the secret was last replaced by recovery.
  locks integer not null default 0 check (locks between 0 and 20),
  -- The guess that locked, while the lock holds.
  locking bigint,
  locked_date timestamptz(3),
  locked_until timestamptz(3),
  override_date timestamptz(3),
  primary key (entity_id, user_id, kind),
  foreign key (entity_id, user_id) references user_keys (entity_id, user_id),
  check (cleared between 0 and counted and counted - cleared <= 4),
  check (num_nulls(locking, locked_date, locked_until) in (0, 3))
);

-- The PINs and answers that are set, for lists of users. A lock holds until its date.
create view user_key_secrets as
  select w.entity_id, w.user_id, w.kind, coalesce(g.counted - g.cleared, 0) as failed_guesses,
    g.locked_date, g.locked_until, g.override_date
  from user_key_wraps w
  left join user_key_guesses g using (entity_id, user_id, kind)
  where w.kind in ('pin', 'answers');
