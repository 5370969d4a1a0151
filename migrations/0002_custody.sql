-- Keys at rest. Nothing here opens without the root key; wallet keys need the entity secret as well.

-- RSA key pairs that clients encrypt the entity secret to. Installation-wide and never deleted:
-- a client fetches the public key once and may use it for years.
create table transport_keys (
  id uuid primary key,
  public_key text not null,
  sealed_private_key bytea not null,
  create_date timestamptz(3) not null
);

-- The secret itself is never stored: `check_value` is derived from it and tells a right one from a wrong one.
-- A rotation counts `generation` up: what was opened with an older one is refused when it is used.
create table entity_secrets (
  entity_id uuid primary key references entities (id),
  check_value bytea not null check (octet_length(check_value) = 32),
  generation integer not null default 1,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null
);

-- A ciphertext works once; keyed on its decoded bytes, since base64 can be written in many ways.
create table spent_ciphertexts (
  entity_id uuid not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  create_date timestamptz(3) not null,
  primary key (entity_id, sha256)
);

create table wallet_sets (
  entity_id uuid not null,
  id uuid not null,
  name text,
  custody_type text not null check (custody_type in ('DEVELOPER', 'ENDUSER')),
  -- The BIP-39 entropy of its keys, sealed under entity secret + root key.
  sealed_entropy bytea not null,
  wallet_count integer not null default 0 check (wallet_count between 0 and 10000000),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index wallet_sets_page on wallet_sets (entity_id, create_date, id);

-- The entropy of an entity's platform keys (deposit, treasury), sealed under the root key alone.
create table platform_seeds (
  entity_id uuid primary key references entities (id),
  sealed_entropy bytea not null,
  next_index integer not null default 0,
  create_date timestamptz(3) not null
);

-- One key has one address on every chain of its family.
-- Class `wallet`: sealed under entity secret + root key. Class `platform`: under the root key.
create table keys (
  entity_id uuid not null,
  id uuid not null,
  class text not null check (class in ('wallet', 'platform')),
  wallet_set_id uuid,
  family text not null,
  derivation_index integer not null check (derivation_index >= 0),
  address text not null,
  sealed_private_key bytea not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique nulls not distinct (entity_id, class, wallet_set_id, family, derivation_index),
  unique (entity_id, family, address),
  foreign key (entity_id, wallet_set_id) references wallet_sets (entity_id, id)
);

create table wallets (
  entity_id uuid not null,
  id uuid not null,
  wallet_set_id uuid not null,
  key_id uuid not null,
  blockchain text not null,
  address text not null,
  derivation_index integer not null,
  account_type text not null check (account_type in ('EOA', 'SCA')),
  custody_type text not null check (custody_type in ('DEVELOPER', 'ENDUSER')),
  state text not null check (state in ('LIVE', 'FROZEN')),
  name text,
  ref_id text,
  -- All wallets made by one request share it, so that a repeated request finds them.
  batch_id uuid not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, address),
  foreign key (entity_id, wallet_set_id) references wallet_sets (entity_id, id),
  foreign key (entity_id, key_id) references keys (entity_id, id)
);
create index wallets_page on wallets (entity_id, create_date, id);
create index wallets_by_set on wallets (entity_id, wallet_set_id, create_date, id);
create index wallets_by_batch on wallets (entity_id, batch_id);
create index wallets_by_blockchain on wallets (entity_id, blockchain, create_date, id);
create index wallets_by_address on wallets (entity_id, address);
create index wallets_by_ref on wallets (entity_id, ref_id, create_date, id) where ref_id is not null;
-- The next index of a chain within a set, and no index twice on it.
create unique index wallets_by_index on wallets (entity_id, wallet_set_id, blockchain, account_type, derivation_index);

-- Every address whose key is here, and what it is for: what the indexer watches and the ledger books.
create table managed_addresses (
  entity_id uuid not null,
  blockchain text not null,
  address text not null,
  key_id uuid not null,
  purpose text not null check (purpose in ('wallet', 'deposit', 'treasury')),
  -- The wallet or deposit address that owns it.
  owner_id uuid not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, blockchain, address),
  foreign key (entity_id, key_id) references keys (entity_id, id)
);
create index managed_addresses_lookup on managed_addresses (blockchain, address, entity_id);

-- What an accepted request leaves so that workers can sign for it without the entity secret:
-- one address's key sealed under the root key, bound to one intent, erased when that intent is final.
create table grants (
  entity_id uuid not null,
  intent_id uuid not null,
  key_id uuid not null,
  address text not null,
  sealed_key bytea not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, intent_id)
);
