-- Versions of the root key, so that it can be rotated while the program runs. The keys themselves are not here.
create table root_keys (
  version integer primary key check (version between 1 and 65535),
  -- Recognises the key, and opens nothing.
  check_value bytea not null unique check (octet_length(check_value) = 32),
  -- The keys that are derived from it, sealed under the newest version: they open recovery files, and verify what was derived before.
  -- Null of the version that seals.
  sealed_keys bytea,
  create_date timestamptz(3) not null,
  -- From then on new values are sealed with this version; null while processes only get to know it.
  active_date timestamptz(3),
  -- From then on nothing new is sealed with it.
  closed_date timestamptz(3),
  -- From then on nothing is sealed with it.
  retired_date timestamptz(3),
  check (closed_date is null or active_date is not null),
  check (retired_date is null or closed_date is not null),
  check (closed_date is null or sealed_keys is not null)
);
revoke delete on root_keys from bezant_runtime;

-- The versions that each process has, while more than one counts: a rotation waits until all have the new one. In real time.
create table root_key_holders (
  process text primary key,
  versions integer[] not null,
  sealing_version integer not null,
  seen_date timestamptz not null
);

-- The version of the root key that a sealed value names: the program's `seal` writes it at the beginning.
create function root_key_version(sealed bytea) returns integer language sql immutable strict parallel safe as $$
  select case when octet_length(sealed) < 3 or get_byte(sealed, 0) = 1 then 1
    else get_byte(sealed, 1) * 256 + get_byte(sealed, 2) end
$$;

-- Whether values may still be sealed with the version that a new one names. The lock, which lasts until the end of the transaction,
-- makes the closing of a version wait for those that have stored one.
create function is_root_key_open(sealed bytea) returns boolean language plpgsql volatile as $$
begin
  if sealed is null then return true; end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('root keys', 0));
  return not exists (select from root_keys k where k.version = root_key_version(sealed) and k.closed_date is not null);
end $$;

create function refuse_closed_root_key() returns trigger language plpgsql as $$
begin
  raise exception 'a value of % was sealed with a version of the root key that is closed: restart this process with the newest one',
    tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger root_keys_open before insert or update of sealed_keys on root_keys for each row
  when (not is_root_key_open(new.sealed_keys)) execute function refuse_closed_root_key();
create trigger transport_keys_root_key before insert or update of sealed_private_key on transport_keys for each row
  when (not is_root_key_open(new.sealed_private_key)) execute function refuse_closed_root_key();
create trigger wallet_sets_root_key before insert or update of sealed_entropy on wallet_sets for each row
  when (not is_root_key_open(new.sealed_entropy)) execute function refuse_closed_root_key();
create trigger platform_seeds_root_key before insert or update of sealed_entropy on platform_seeds for each row
  when (not is_root_key_open(new.sealed_entropy)) execute function refuse_closed_root_key();
create trigger keys_root_key before insert or update of sealed_private_key on keys for each row
  when (not is_root_key_open(new.sealed_private_key)) execute function refuse_closed_root_key();
create trigger grants_root_key before insert or update of sealed_key on grants for each row
  when (not is_root_key_open(new.sealed_key)) execute function refuse_closed_root_key();
create trigger signing_certificates_root_key before insert or update of sealed_private_key on signing_certificates for each row
  when (not is_root_key_open(new.sealed_private_key)) execute function refuse_closed_root_key();
create trigger webhook_keys_root_key before insert or update of sealed_private_key, sealed_ed25519_private_key on webhook_keys
  for each row when (not is_root_key_open(new.sealed_private_key) or not is_root_key_open(new.sealed_ed25519_private_key))
  execute function refuse_closed_root_key();
create trigger attestation_keys_root_key before insert or update of sealed_private_key on attestation_keys for each row
  when (not is_root_key_open(new.sealed_private_key)) execute function refuse_closed_root_key();
create trigger user_tokens_root_key before insert or update of sealed_encryption_key on user_tokens for each row
  when (not is_root_key_open(new.sealed_encryption_key)) execute function refuse_closed_root_key();
create trigger device_tokens_root_key before insert or update of sealed_encryption_key on device_tokens for each row
  when (not is_root_key_open(new.sealed_encryption_key)) execute function refuse_closed_root_key();
create trigger user_token_keys_root_key before insert or update of sealed_private_key on user_token_keys for each row
  when (not is_root_key_open(new.sealed_private_key)) execute function refuse_closed_root_key();
create trigger user_keys_root_key before insert or update of sealed_secret on user_keys for each row
  when (not is_root_key_open(new.sealed_secret)) execute function refuse_closed_root_key();
create trigger user_key_wraps_root_key before insert or update of sealed_key on user_key_wraps for each row
  when (not is_root_key_open(new.sealed_key)) execute function refuse_closed_root_key();
create trigger sealed_answers_root_key before insert or update of sealed on sealed_answers for each row
  when (not is_root_key_open(new.sealed)) execute function refuse_closed_root_key();
create trigger members_root_key before insert or update of code_key on members for each row
  when (not is_root_key_open(new.code_key)) execute function refuse_closed_root_key();
create trigger bank_accounts_root_key before insert or update of sealed_number on bank_accounts for each row
  when (not is_root_key_open(new.sealed_number)) execute function refuse_closed_root_key();

-- Rows that never change, but for the seal of their private keys.
drop trigger webhook_keys_append_only on webhook_keys;
create trigger webhook_keys_append_only before delete or update of id, public_key, ed25519_public_key, create_date on webhook_keys
  for each statement execute function refuse_change();
grant update (sealed_private_key, sealed_ed25519_private_key) on webhook_keys to bezant_runtime;
drop trigger user_token_keys_append_only on user_token_keys;
create trigger user_token_keys_append_only before delete or update of id, public_key, create_date on user_token_keys
  for each statement execute function refuse_change();
grant update (sealed_private_key) on user_token_keys to bezant_runtime;
grant update (sealed_private_key) on attestation_keys to bezant_runtime;
