-- Keys at rest, and what they may sign. Nothing here opens without the root key; wallet keys need the entity secret as well.

-- The secret itself is never stored: `check_value` is derived from it and tells a right one from a wrong one.
-- A rotation counts `generation` up: what was opened with an older one is refused when it is used.
create table entity_secrets (
  entity_id uuid primary key references entities (id),
  check_value bytea not null check (octet_length(check_value) = 32),
  generation integer not null default 1,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null
);

-- RSA key pairs that clients encrypt the entity secret to. Installation-wide and never deleted:
-- a client fetches the public key once and may use it for years.
create table transport_keys (
  id uuid primary key,
  public_key text not null,
  sealed_private_key bytea not null,
  create_date timestamptz(3) not null
);

-- A ciphertext works once; keyed on its decoded bytes, since base64 can be written in many ways.
create table spent_ciphertexts (
  entity_id uuid not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  -- The request that showed a ciphertext: its idempotency key, operation and contents. That request alone may show it again, as
  -- clients do after a 503. Null for operations without a key.
  request bytea check (octet_length(request) = 32),
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
  -- A user's wallet set belongs to that user, and only the user's key opens it. Here and below, users have their internal id.
  user_id uuid,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  constraint wallet_sets_user_fkey foreign key (entity_id, user_id) references users (entity_id, id),
  constraint wallet_sets_user_of_custody check ((custody_type = 'ENDUSER') = (user_id is not null))
);
create index wallet_sets_page on wallet_sets (entity_id, create_date, id);
create unique index wallet_sets_by_user on wallet_sets (entity_id, user_id) where user_id is not null;

-- The entropy of an entity's platform keys (deposit, treasury), sealed under the root key alone.
create table platform_seeds (
  entity_id uuid primary key references entities (id),
  sealed_entropy bytea not null,
  next_index integer not null default 0,
  create_date timestamptz(3) not null
);

-- One key has one address on every chain of its family.
-- Class `wallet`: sealed under entity secret + root key. Class `platform`: under the root key. Class `user`: sealed under the
-- key of a user.
create table keys (
  entity_id uuid not null,
  id uuid not null,
  class text not null check (class in ('wallet', 'platform', 'user')),
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
  -- The version of the account, of a smart account alone.
  sca_core text,
  -- The version that the account is created with, from which its address follows; an upgrade changes `sca_core` alone.
  first_core text,
  -- The user whose wallet it is; absent where the developer's keys act.
  user_id text,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, address),
  foreign key (entity_id, wallet_set_id) references wallet_sets (entity_id, id),
  foreign key (entity_id, key_id) references keys (entity_id, id),
  constraint wallets_user_fkey foreign key (entity_id, user_id) references users (entity_id, user_id),
  constraint wallets_core_of_account check ((account_type = 'SCA') = (sca_core is not null)),
  constraint wallets_first_core check ((sca_core is null) = (first_core is null)),
  constraint wallets_user_check check ((custody_type = 'ENDUSER') = (user_id is not null))
);
create index wallets_page on wallets (entity_id, create_date, id);
create index wallets_by_set on wallets (entity_id, wallet_set_id, create_date, id);
create index wallets_by_batch on wallets (entity_id, batch_id);
create index wallets_by_blockchain on wallets (entity_id, blockchain, create_date, id);
create index wallets_by_address on wallets (entity_id, address);
create index wallets_by_ref on wallets (entity_id, ref_id, create_date, id) where ref_id is not null;
-- The next index of a chain within a set, and no index twice on it.
create unique index wallets_by_index on wallets (entity_id, wallet_set_id, blockchain, account_type, derivation_index);
create index wallets_by_core on wallets (entity_id, sca_core, create_date, id) where sca_core is not null;
create index wallets_by_user on wallets (entity_id, user_id, create_date, id) where user_id is not null;

-- Every address whose key is here, and what it is for: what the indexer watches and the ledger books.
create table managed_addresses (
  entity_id uuid not null,
  blockchain text not null,
  address text not null,
  -- Null of an address whose key is not here: a smart account whose owners sign elsewhere (`modular`), or the deposit of a
  -- paymaster at the EntryPoint, which is booked as its native coins.
  key_id uuid,
  purpose text not null check (purpose in ('wallet', 'deposit', 'treasury', 'modular', 'paymaster')),
  -- The wallet or deposit address that owns it.
  owner_id uuid not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, blockchain, address),
  foreign key (entity_id, key_id) references keys (entity_id, id),
  constraint managed_addresses_key_of_purpose
    check ((purpose in ('modular', 'paymaster')) = (key_id is null))
);
create index managed_addresses_lookup on managed_addresses (blockchain, address, entity_id);

-- Policies: nothing is signed without a decision, and no decision is made without a policy.

-- The policy in force of an entity, a wallet set or a wallet. Its row is the lock that limits are kept under.
create table policies (
  entity_id uuid not null references entities (id),
  -- The entity itself, one of its wallet sets or one of its wallets.
  subject_id uuid not null,
  scope text not null check (scope in ('entity', 'walletSet', 'wallet')),
  version integer not null,
  version_id uuid not null,
  -- That of the version.
  create_date timestamptz(3) not null,
  primary key (entity_id, subject_id)
);
-- Operators list the policies in force, newest first.
create index policies_page on policies (entity_id, create_date, version_id);

create table policy_versions (
  entity_id uuid not null,
  id uuid not null,
  subject_id uuid not null,
  version integer not null,
  rules jsonb not null,
  actor text not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, subject_id, version)
);
create index policy_versions_page on policy_versions (entity_id, create_date, id);
create index policy_versions_of_subject on policy_versions (entity_id, subject_id, create_date, id);
create trigger policy_versions_append_only before update or delete on policy_versions
  for each statement execute function refuse_change();
revoke update, delete on policy_versions from bezant_runtime;

-- Decisions, and the versions of policies that they rest on. `intent_id` is the transaction, or an id of its own where a request is
-- signed at once.
create table policy_decisions (
  entity_id uuid not null,
  id uuid not null,
  intent_id uuid not null,
  wallet_id uuid not null,
  operation text not null,
  intent_sha256 bytea not null check (octet_length(intent_sha256) = 32),
  version_ids uuid[] not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index policy_decisions_by_intent on policy_decisions (entity_id, intent_id);
create index policy_decisions_page on policy_decisions (entity_id, create_date, id);
create index policy_decisions_of_wallet on policy_decisions (entity_id, wallet_id, create_date, id);
create trigger policy_decisions_append_only before update or delete on policy_decisions
  for each statement execute function refuse_change();
revoke update, delete on policy_decisions from bezant_runtime;

-- The amounts that each decision lets leave. Kept under permissive policies too, so that a limit set later knows what came
-- before.
create table policy_spending (
  entity_id uuid not null,
  intent_id uuid not null,
  blockchain text not null,
  token text not null,
  wallet_set_id uuid not null,
  wallet_id uuid not null,
  amount numeric(78, 0) not null check (amount >= 0),
  -- Set when the intent came to nothing: it no longer counts.
  released_date timestamptz(3),
  create_date timestamptz(3) not null,
  primary key (entity_id, intent_id, blockchain, token)
);
create index policy_spending_window on policy_spending (entity_id, token, create_date) where released_date is null;

-- An entity that is here signs nothing; single wallets are frozen by their state.
create table entity_freezes (
  entity_id uuid primary key references entities (id),
  create_date timestamptz(3) not null
);

-- The keys that an accepted request leaves so that workers can sign for it without the entity secret:
-- one address's key sealed under the root key, bound to one intent, erased when that intent is final.
create table grants (
  entity_id uuid not null,
  intent_id uuid not null,
  -- Whose key it is, so that a frozen wallet is known when it signs.
  wallet_id uuid not null,
  decision_id uuid not null,
  key_id uuid not null,
  address text not null,
  sealed_key bytea not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, intent_id)
);

-- The payloads signed for each nonce of each key, written before the signature is made. One payload per nonce, and after it
-- only what is linked to the last one and offers enough more for nodes to take it: a line without forks.
-- Whatever an engine above asks for, custody signs nothing that is not here.
create table signatures (
  entity_id uuid not null,
  address text not null,
  blockchain text not null,
  nonce bigint not null check (nonce >= 0),
  -- Place in the line: 0 is what the nonce was given out for, each further one replaces the one before it.
  ordinal integer not null check (ordinal >= 0),
  digest bytea not null check (octet_length(digest) = 32),
  intent_id uuid not null,
  -- Moves nothing: it may take the place of another intent's bytes, only to use up the nonce.
  noop boolean not null default false,
  max_fee numeric(78, 0) not null check (max_fee >= 0),
  priority_fee numeric(78, 0) not null check (priority_fee >= 0),
  -- The digest that it takes the place of.
  replaces bytea,
  create_date timestamptz(3) not null,
  -- Of two that sign for one place at once, the second waits here and is refused.
  primary key (entity_id, address, blockchain, nonce, ordinal),
  constraint signatures_linked check ((ordinal = 0) = (replaces is null))
);
create trigger signatures_append_only before update or delete or truncate on signatures
  for each statement execute function refuse_change();

-- Real nodes ask for a tenth more of both prices, rounded up, and for more in any case.
create function check_replacement() returns trigger language plpgsql as $$
declare
  last signatures%rowtype;
begin
  select * into last from signatures s where s.entity_id = new.entity_id and s.address = new.address
    and s.blockchain = new.blockchain and s.nonce = new.nonce and s.ordinal = new.ordinal - 1;
  if last.digest is distinct from new.replaces then
    raise exception 'nonce % of % on %: a replacement must name what was signed last', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_linked', table = tg_table_name;
  end if;
  if new.intent_id <> last.intent_id and not new.noop then
    raise exception 'nonce % of % on % belongs to another intent', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_of_one_intent', table = tg_table_name;
  end if;
  if new.max_fee < greatest(ceil(last.max_fee * 1.1), last.max_fee + 1)
    or new.priority_fee < greatest(ceil(last.priority_fee * 1.1), last.priority_fee + 1) then
    raise exception 'nonce % of % on %: a replacement must offer a tenth more in cap and tip', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_offer_more', table = tg_table_name;
  end if;
  return new;
end $$;
create trigger signatures_replacement before insert on signatures
  for each row when (new.ordinal > 0) execute function check_replacement();
revoke update, delete on signatures from bezant_runtime;

-- The payloads signed for a transaction of a smart account. The contract executes one operation of it at most.
create table operation_signatures (
  entity_id uuid not null,
  intent_id uuid not null,
  ordinal integer not null check (ordinal >= 0),
  blockchain text not null,
  address text not null,
  digest bytea not null check (octet_length(digest) = 32),
  create_date timestamptz(3) not null,
  primary key (entity_id, intent_id, ordinal)
);
create trigger operation_signatures_append_only before update or delete or truncate on operation_signatures
  for each statement execute function refuse_change();
revoke update, delete on operation_signatures from bezant_runtime;

-- RSA key pairs that notifications are signed with. Installation-wide: receivers fetch the certificate from us.
create table signing_certificates (
  id uuid primary key,
  certificate text not null,
  sealed_private_key bytea not null,
  not_after timestamptz(3) not null,
  create_date timestamptz(3) not null
);

-- Keys that webhooks are signed with, one pair for each scheme under one id. Installation-wide: receivers fetch the public
-- halves from this server. A row never changes.
create table webhook_keys (
  id uuid primary key,
  -- ECDSA on P-256: a SubjectPublicKeyInfo.
  public_key bytea not null,
  sealed_private_key bytea not null,
  -- Ed25519: the 32 bytes of the key, and the sealed private one.
  ed25519_public_key bytea not null check (octet_length(ed25519_public_key) = 32),
  sealed_ed25519_private_key bytea not null,
  create_date timestamptz(3) not null
);
create trigger webhook_keys_append_only before update or delete on webhook_keys
  for each statement execute function refuse_change();
revoke update, delete on webhook_keys from bezant_runtime;

-- Keys that sign for this installation on chains: `message` cross-chain messages, `balance` attestations and burns of unified
-- balances. A retired key signs nothing more; what it signed counts until its contract forgets it.
create table attestation_keys (
  id uuid primary key,
  purpose text not null check (purpose in ('message', 'balance')),
  address text not null,
  -- Uncompressed, 65 bytes.
  public_key bytea not null check (octet_length(public_key) = 65),
  sealed_private_key bytea not null,
  retired_date timestamptz(3),
  create_date timestamptz(3) not null,
  unique (purpose, address)
);
revoke update, delete on attestation_keys from bezant_runtime;
grant update (retired_date) on attestation_keys to bezant_runtime;

-- All that these keys ever signed, recorded before the signature is made.
create table attestation_signatures (
  purpose text not null,
  -- The subject of the signature: the nonce of a message, the hash of a transfer, or a burn.
  subject text not null,
  key_id uuid not null references attestation_keys (id),
  digest bytea not null check (octet_length(digest) = 32),
  create_date timestamptz(3) not null,
  primary key (purpose, subject, key_id, digest)
);
-- A transfer of a unified balance is attested by one digest for good. A message may be attested again: its nonce is used once.
create unique index attestation_signatures_of_balances on attestation_signatures (subject, key_id) where purpose = 'balance';
create trigger attestation_signatures_append_only before update or delete or truncate on attestation_signatures
  for each statement execute function refuse_change();
revoke update, delete on attestation_signatures from bezant_runtime;

create view platform_addresses as
  select entity_id, blockchain, address from managed_addresses where purpose in ('deposit', 'treasury');

-- Whose keys a wallet has, for other owners of tables.
create view wallet_custody as select entity_id, id as wallet_id, custody_type, user_id from wallets;
