-- The users of an entity's app, who hold the keys of their own wallets: how they log in, what opens their keys, and what they
-- are asked to approve.

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

-- The users behind proven addresses.
create table user_emails (
  entity_id uuid not null,
  email text not null,
  user_id text not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, email),
  foreign key (entity_id, user_id) references users (entity_id, user_id)
);
-- Finds whether a login made a user: such a user approves on a device, and no app may give that user a PIN.
create index user_emails_user on user_emails (entity_id, user_id);

-- The users behind proven identities: the subject of an issuer, which gives it to one person alone.
create table user_identities (
  entity_id uuid not null,
  issuer text not null,
  subject text not null check (char_length(subject) between 1 and 255),
  user_id text not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, issuer, subject),
  foreign key (entity_id, user_id) references users (entity_id, user_id)
);
create index user_identities_user on user_identities (entity_id, user_id);

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
create index device_tokens_by_expiry on device_tokens (entity_id, expire_date);

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
create index login_codes_by_expiry on login_codes (entity_id, expire_date);

-- The sends and entries of an address since its last login. Each limit ends an hour after the last one that counted.
create table login_limits (
  entity_id uuid not null,
  email text not null,
  sends integer not null default 0 check (sends between 0 and 5),
  last_send_date timestamptz(3),
  entries integer not null default 0 check (entries between 0 and 5),
  last_entry_date timestamptz(3),
  expire_date timestamptz(3) not null,
  primary key (entity_id, email)
);
create index login_limits_by_expiry on login_limits (entity_id, expire_date);

-- ID tokens that began a session, as long as they would be accepted otherwise: the hash of the part that is signed.
create table used_id_tokens (
  entity_id uuid not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  expire_date timestamptz(3) not null,
  primary key (entity_id, sha256)
);
create index used_id_tokens_by_expiry on used_id_tokens (entity_id, expire_date);

-- A session begins with a login: a family of tokens, of which each is renewed once.
create table user_sessions (
  entity_id uuid not null,
  id uuid not null,
  user_id text not null,
  device_id text not null,
  -- When a used refresh token came again: from then on no token of the session counts.
  ended_date timestamptz(3),
  -- The expiry of its last token.
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, user_id) references users (entity_id, user_id)
);
create index user_sessions_by_expiry on user_sessions (entity_id, expire_date);
-- A user's sessions and tokens are ended together.
create index user_sessions_by_user on user_sessions (entity_id, user_id);

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
create index refresh_tokens_by_expiry on refresh_tokens (entity_id, expire_date);
-- Found when a session is removed.
create index refresh_tokens_of_session on refresh_tokens (entity_id, session_id);

-- RSA key pairs of the installation. A row never changes: a key signs for a month, and counts until the last token that it
-- signed has expired.
create table user_token_keys (
  id uuid primary key,
  -- A SubjectPublicKeyInfo.
  public_key bytea not null,
  sealed_private_key bytea not null,
  create_date timestamptz(3) not null
);
create trigger user_token_keys_append_only before update or delete on user_token_keys
  for each statement execute function refuse_change();
revoke update, delete on user_token_keys from bezant_runtime;

-- One row for each token. The token itself is not here: its signature cannot be made from the row.
create table user_tokens (
  entity_id uuid not null,
  -- The claim `jti`.
  id uuid not null,
  user_id text not null,
  -- The key that belongs to this token alone, by which a page proves that it holds the token and hides what it sends.
  sealed_encryption_key bytea not null,
  session_id uuid,
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, user_id) references users (entity_id, user_id),
  constraint user_tokens_session_fkey foreign key (entity_id, session_id) references user_sessions (entity_id, id)
);
create index user_tokens_by_expiry on user_tokens (entity_id, expire_date);
create index user_tokens_of_session on user_tokens (entity_id, session_id) where session_id is not null;
create index user_tokens_by_user on user_tokens (entity_id, user_id);

-- Keys of users, which they alone open: with a PIN, with answers to their questions, or with a secret of their device.
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

-- The number of guesses at a user's secret never falls, whatever the program does, and its row stays.
create function refuse_fall() returns trigger language plpgsql as $$
begin
  raise exception 'a guess of % is never given back', old.user_id using errcode = 'restrict_violation';
end $$;
create trigger user_key_guesses_only_rise before update on user_key_guesses for each row
  when (new.counted < old.counted or new.cleared < old.cleared) execute function refuse_fall();
revoke delete on user_key_guesses from bezant_runtime;

-- Answers with tokens, sealed, for requests that are repeated with their key.
create table sealed_answers (
  entity_id uuid not null,
  id uuid not null,
  sealed bytea not null,
  -- Answers are kept as long as the longest-lived token in them.
  expire_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index sealed_answers_by_expiry on sealed_answers (entity_id, expire_date);

-- Requests of an app to a user, until the user approves them with the PIN or the device.
create table challenges (
  entity_id uuid not null,
  id uuid not null,
  -- The id that the app chose.
  user_id text not null,
  type text not null,
  -- The request as JSON, and what the user is shown of it. Neither ever changes, so what is approved is what was shown.
  request text not null,
  summary text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'COMPLETE', 'FAILED')),
  -- The wallets or the transaction that came of it.
  correlation_ids uuid[] not null default '{}',
  error_code integer,
  error_message text,
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, user_id) references users (entity_id, user_id),
  check ((status = 'FAILED') = (error_code is not null)),
  check (num_nulls(error_code, error_message) in (0, 2))
);
create index challenges_by_user on challenges (entity_id, user_id, create_date, id);

create function refuse_challenge_change() returns trigger language plpgsql as $$
begin
  raise exception 'challenge % is as it was shown, and ends once', old.id using errcode = 'restrict_violation';
end $$;
create trigger challenges_end_once before update on challenges for each row
  when (old.status <> 'PENDING'
    or (old.user_id, old.type, old.request, old.summary, old.expire_date, old.create_date)
      is distinct from (new.user_id, new.type, new.request, new.summary, new.expire_date, new.create_date))
  execute function refuse_challenge_change();
revoke update, delete on challenges from bezant_runtime;
grant update (status, correlation_ids, error_code, error_message, update_date) on challenges to bezant_runtime;

-- The id of the app by which wallets and their sets show the user who holds them.
create view user_names as select entity_id, id, user_id from users;

-- The PINs and answers that are set, for lists of users. A lock holds until its date.
create view user_key_secrets as
  select w.entity_id, w.user_id, w.kind, coalesce(g.counted - g.cleared, 0) as failed_guesses,
    g.locked_date, g.locked_until, g.override_date
  from user_key_wraps w
  left join user_key_guesses g using (entity_id, user_id, kind)
  where w.kind in ('pin', 'answers');

-- Challenges as webhooks show them, see `notified_kinds`.
create view notified_challenges as
  select entity_id, id, update_date, null::jsonb as snapshot from challenges;
