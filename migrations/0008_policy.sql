-- What may be signed. Nothing is signed without a decision, and no decision is made without a policy.

-- The policy in force of an entity, a wallet set or a wallet. Its row is the lock that limits are kept under.
create table policies (
  entity_id uuid not null references entities (id),
  -- The entity itself, one of its wallet sets or one of its wallets.
  subject_id uuid not null,
  scope text not null check (scope in ('entity', 'walletSet', 'wallet')),
  version integer not null,
  version_id uuid not null,
  primary key (entity_id, subject_id)
);

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
create trigger policy_versions_append_only before update or delete on policy_versions
  for each statement execute function refuse_change();

-- What was allowed, under which versions. `intent_id` is the transaction, or an id of its own where a request is signed at once.
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
create trigger policy_decisions_append_only before update or delete on policy_decisions
  for each statement execute function refuse_change();

-- What each decision lets leave. Kept under permissive policies too, so that a limit set later knows what came before.
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

-- Whose key a grant holds on which blockchain, so that a frozen wallet is known when it signs.
alter table grants add column wallet_id uuid not null;
alter table grants add column decision_id uuid not null;

-- What ended in a block without doing what was asked gives its allowance back when that block is final.
create index transactions_ended on transactions (blockchain, block_number)
  where transaction_type = 'OUTBOUND' and state in ('FAILED', 'CANCELLED');
