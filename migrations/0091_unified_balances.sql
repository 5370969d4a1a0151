-- Unified balances: USDC that depositors hold in the wallet contracts of several chains. They belong to no entity.

-- The balance of a depositor on one chain as this service counts it, in base units. `overdrawn` is what the chain took beyond
-- the available amount, such as a withdrawal of what an attested transfer reserves: no transfer ever takes beyond it.
create table unified_balances (
  blockchain text not null,
  depositor text not null,
  available numeric(78, 0) not null default 0 check (available >= 0),
  overdrawn numeric(78, 0) not null default 0 check (overdrawn >= 0),
  primary key (blockchain, depositor),
  check (available = 0 or overdrawn = 0)
);
revoke delete on unified_balances from bezant_runtime;

-- The events of wallet contracts in blocks that count now; rows of orphaned blocks are deleted, and taken back.
create table unified_movements (
  blockchain text not null,
  block_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  block_time timestamptz(3) not null,
  tx_hash text not null,
  kind text not null check (kind in ('deposited', 'withdrawalInitiated', 'withdrawalCompleted', 'burned')),
  depositor text not null,
  -- Of a burn: the value and the fee.
  amount numeric(78, 0) not null,
  fee numeric(78, 0) not null default 0,
  -- The part of a burn that came out of the withdrawing balance.
  from_withdrawing numeric(78, 0) not null default 0,
  spec_hash text,
  -- The amount by which the row changed the balance; null while a deposit or a burn waits for finality.
  counted numeric(79, 0),
  primary key (blockchain, block_hash, log_index)
);
create index unified_movements_waiting on unified_movements (blockchain, block_number) where counted is null;
create index unified_movements_pending on unified_movements (depositor, blockchain) where kind = 'deposited' and counted is null;
create index unified_movements_of_specs on unified_movements (spec_hash) where spec_hash is not null;

-- Delegates that were added or removed. An addition counts when its block is final, a removal at once.
create table unified_delegations (
  blockchain text not null,
  block_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  depositor text not null,
  delegate text not null,
  added boolean not null,
  primary key (blockchain, block_hash, log_index)
);
create index unified_delegations_of_depositors on unified_delegations (blockchain, depositor, delegate, block_number, log_index);

-- The heights that the engine has counted, per chain.
create table unified_heights (
  blockchain text primary key,
  -- The last block that was followed, and the last one whose deposits and delegates count.
  followed bigint not null,
  final bigint not null
);
