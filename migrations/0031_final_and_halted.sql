-- Two depths instead of one: a transaction is told COMPLETE when its block has the network's confirmations, and a block is
-- final when it cannot be taken back any more. And chains that are halted because final blocks were taken back all the same.

-- The blocks up to `complete_to` have their confirmations after this step. Null in steps written before there were two depths.
alter table block_steps add column complete_to bigint;
-- Up to which block an engine knows of a chain that it has its confirmations.
drop view followed_finality;
create view followed_confirmations as
  select c.engine, c.blockchain, coalesce(s.complete_to, s.final_to) as complete_to
  from step_cursors c join block_steps s on s.blockchain = c.blockchain and s.step = c.step;

-- A chain on which nothing is signed or sent until its operator accepts what happened.
create table chain_halts (
  blockchain text primary key,
  -- The newest block that was followed, which was final, and the one that the chain has in its place.
  block_number bigint not null,
  block_hash text not null,
  other_hash text not null,
  create_date timestamptz(3) not null
);
create view halted_chains as select blockchain from chain_halts;

-- The trail of operators who accepted another history of a chain: what was undone, down to which block, and for which one.
create table chain_acceptances (
  id uuid primary key,
  blockchain text not null,
  actor text not null,
  accepted_number bigint not null,
  accepted_hash text not null,
  -- The newest block that both histories have.
  common_number bigint not null,
  common_hash text not null,
  -- The newest block that was followed before.
  head_number bigint not null,
  head_hash text not null,
  create_date timestamptz(3) not null
);
create trigger chain_acceptances_append_only before update or delete on chain_acceptances
  for each statement execute function refuse_change();
revoke update, delete on chain_acceptances from bezant_runtime;
