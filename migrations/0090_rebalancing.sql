-- Coins that an entity's treasury moves to another chain by a message, because disbursements there lack them.

-- Entities that allow it. Amounts are base units of the stablecoin.
create table rebalancing_policies (
  entity_id uuid primary key references entities (id),
  message_max numeric(78, 0) not null check (message_max > 0),
  -- Coins that stay on the chain that the others leave, besides those that its own disbursements need.
  reserve numeric(78, 0) not null check (reserve >= 0),
  update_date timestamptz(3) not null
);

create table rebalancings (
  entity_id uuid not null,
  -- Also the id of the transaction that burns.
  id uuid not null,
  -- `collecting`: the treasury gets the coins together. `burning`: the burn is recorded. `minting`: so is the mint.
  status text not null check (status in ('collecting', 'approving', 'burning', 'minting', 'complete', 'failed')),
  currency text not null,
  source_blockchain text not null,
  source_token_id uuid not null,
  -- The chain that lacks coins.
  blockchain text not null,
  token_id uuid not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- The transactions that allow the burn and that mint.
  approval_id uuid,
  mint_id uuid,
  -- Of the message; only the treasury can deliver it.
  nonce text,
  -- The block that has the mint; null while none does.
  minted_block_hash text,
  error_reason text,
  -- Ended before, and taken up again after a reorg: it does not keep others from beginning.
  reopened boolean not null default false,
  next_attempt_at timestamptz not null default now(),
  failed_at timestamptz,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  check (source_blockchain <> blockchain),
  check (status not in ('minting', 'complete') or (nonce is not null and mint_id is not null)),
  check (status <> 'complete' or minted_block_hash is not null)
);
-- One at a time for a shortage, and one that needs the allowance of a treasury.
create unique index rebalancings_of_shortage on rebalancings (entity_id, blockchain, token_id)
  where status in ('collecting', 'approving', 'burning', 'minting') and not reopened;
create unique index rebalancings_of_allowance on rebalancings (entity_id, source_blockchain, source_token_id)
  where status in ('collecting', 'approving', 'burning') and not reopened;
create index rebalancings_to_burn on rebalancings (source_blockchain, next_attempt_at)
  where status in ('collecting', 'approving', 'burning');
create index rebalancings_to_mint on rebalancings (blockchain, next_attempt_at) where status in ('burning', 'minting');
create index rebalancings_failed on rebalancings (entity_id, blockchain, token_id, failed_at) where status = 'failed';
create index rebalancings_not_minted on rebalancings (entity_id, id) where minted_block_hash is null;
create index rebalancings_by_nonce on rebalancings (nonce) where nonce is not null;
create index rebalancings_by_block on rebalancings (blockchain, minted_block_hash) where minted_block_hash is not null;
revoke delete on rebalancings from bezant_runtime;
