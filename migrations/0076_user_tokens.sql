-- Tokens by which an app acts for one of its users, and the keys that sign them.

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
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, user_id) references users (entity_id, user_id)
);
create index user_tokens_by_expiry on user_tokens (entity_id, expire_date);
