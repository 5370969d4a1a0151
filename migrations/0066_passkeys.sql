-- Client keys, which a page may hold, and the passkeys of the users of such pages.

-- A client key has the scope `client` alone, and no other key has it.
alter table api_keys
  drop constraint api_keys_scopes_check,
  add constraint api_keys_scopes_check check (
    scopes = '{client}'
    or (scopes <@ array['api', 'operator:read', 'operator:write'] and cardinality(scopes) > 0)
  );

-- Challenges that were given out and not yet answered: the answer, right or wrong, removes its challenge.
create table passkey_challenges (
  entity_id uuid not null,
  challenge bytea not null check (octet_length(challenge) = 32),
  -- The user of a registration; absent for a login.
  user_handle bytea check (octet_length(user_handle) = 32),
  username text,
  expire_date timestamptz(3) not null,
  primary key (entity_id, challenge),
  check ((user_handle is null) = (username is null))
);
create index passkey_challenges_by_expiry on passkey_challenges (entity_id, expire_date);

-- Credentials by which users sign. Only the counter and the date of its last change move.
create table passkeys (
  entity_id uuid not null,
  id uuid not null,
  credential_id bytea not null check (octet_length(credential_id) between 1 and 1023),
  -- A SubjectPublicKeyInfo on P-256.
  public_key bytea not null check (octet_length(public_key) = 91),
  -- The signature counter of the authenticator: 0 for ever where it has none.
  counter bigint not null check (counter >= 0),
  rp_id text not null,
  user_handle bytea not null,
  username text not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, credential_id)
);
revoke update, delete on passkeys from bezant_runtime;
grant update (counter, update_date) on passkeys to bezant_runtime;
