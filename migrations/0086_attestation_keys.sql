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
revoke delete on attestation_keys from bezant_runtime;
revoke update on attestation_keys from bezant_runtime;
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
