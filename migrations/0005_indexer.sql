-- The contents of the chains, by block hash. Rows of an orphaned block stay and are marked; nothing is guessed away.
-- Two depths: a transaction is told COMPLETE when its block has the network's confirmations, and a block is final when it
-- cannot be taken back any more. Chains whose final blocks were taken back all the same are halted.

create table blocks (
  blockchain text not null,
  hash text not null,
  number bigint not null,
  parent_hash text not null,
  block_time timestamptz(3) not null,
  canonical boolean not null default true,
  -- A hash of its contents, with the logs of all contracts, in 32 bytes. The hash of a block is agreed on by several endpoints
  -- before it counts as final, while its transactions and receipts were read from one: they are compared by this before
  -- anything is concluded that cannot be undone. Null of a local chain.
  content_hash text,
  primary key (blockchain, hash)
);
create unique index blocks_canonical on blocks (blockchain, number) where canonical;
-- Blocks and steps grow with every block of every chain, and prove no money: entries, holds, signatures and what was observed
-- name blocks by their hash and stay. The program may remove old ones by `prune_blocks` alone, which keeps what may be needed.
revoke delete on blocks from bezant_runtime;

-- The feed that engines above read: each applied or undone block is one step, numbered per chain without gaps.
create table block_steps (
  blockchain text not null,
  step bigint not null,
  kind text not null check (kind in ('applied', 'undone')),
  block_hash text not null,
  block_number bigint not null,
  -- Which blocks this step made final, as far as the chain's endpoints agree; none when `final_from` is the higher one.
  final_from bigint not null,
  final_to bigint not null,
  -- The blocks up to `complete_to` have their confirmations after this step. Null: up to `final_to`.
  complete_to bigint,
  primary key (blockchain, step)
);
revoke update, delete on block_steps from bezant_runtime;

-- How far an engine has followed the feed of a chain.
create table step_cursors (
  engine text not null,
  blockchain text not null,
  step bigint not null,
  primary key (engine, blockchain)
);

-- Which process follows a chain. The lease saves work; what makes two followers harmless is the lock and the
-- parent check of every applied block.
create table chain_leases (
  blockchain text primary key,
  holder uuid not null,
  lease_until timestamptz not null
);

-- A chain on which nothing is signed or sent until its operator accepts what happened.
create table chain_halts (
  blockchain text primary key,
  -- The newest block that was followed, which was final, and the one that the chain has in its place.
  block_number bigint not null,
  block_hash text not null,
  other_hash text not null,
  create_date timestamptz(3) not null
);

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

-- A movement of a listed token or the native coin from or to a managed address, one row per managed side.
create table observed_transfers (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  tx_hash text not null,
  -- How it was told: the value of the transaction itself, an operation that it executed, or a log.
  kind text not null check (kind in ('value', 'operation', 'log')),
  -- That of the log in its block; of an operation, that of the move in its transaction; 0 for a value.
  position integer not null check (position >= 0),
  direction text not null check (direction in ('in', 'out')),
  -- Of a listed token; the books refer to it by key, here a check for each row would only cost.
  token_id uuid not null,
  from_address text not null,
  to_address text not null,
  amount numeric(78, 0) not null check (amount >= 0),
  -- The managed side.
  address text not null,
  purpose text not null,
  owner_id uuid not null,
  block_time timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, block_hash, tx_hash, kind, position, direction)
);
create index observed_transfers_by_block on observed_transfers (blockchain, block_hash);
-- Transfers to treasuries in canonical blocks.
create index observed_transfers_to_treasuries on observed_transfers (entity_id, blockchain, tx_hash)
  where purpose = 'treasury' and direction = 'in';

-- A transaction sent by a managed address, with its outcome.
create table observed_transactions (
  entity_id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  tx_hash text not null,
  address text not null,
  nonce bigint not null,
  success boolean not null,
  gas_used numeric(78, 0) not null,
  fee numeric(78, 0) not null,
  block_time timestamptz(3) not null,
  primary key (entity_id, blockchain, block_hash, tx_hash)
);
create index observed_transactions_by_block on observed_transactions (blockchain, block_hash);
create index observed_transactions_by_nonce on observed_transactions (entity_id, blockchain, address, nonce);

-- Operations of managed accounts in blocks, as the EntryPoint tells of them.
create table observed_operations (
  entity_id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  tx_hash text not null,
  log_index integer not null,
  user_op_hash text not null,
  account text not null,
  nonce numeric(78, 0) not null,
  success boolean not null,
  gas_used numeric(78, 0) not null,
  fee numeric(78, 0) not null,
  block_time timestamptz(3) not null,
  primary key (entity_id, blockchain, block_hash, tx_hash, log_index)
);
create index observed_operations_by_block on observed_operations (blockchain, block_hash);

-- A transfer of any other contract's token from or to a managed wallet, one row per managed side and item. A claim of the
-- contract: no balance is booked from it.
create table observed_token_transfers (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  tx_hash text not null,
  log_index integer not null,
  -- The place in a batch.
  position integer not null,
  direction text not null check (direction in ('in', 'out')),
  token_address text not null,
  standard text not null,
  item_id numeric(78, 0),
  from_address text not null,
  to_address text not null,
  amount numeric(78, 0) not null,
  address text not null,
  wallet_id uuid not null,
  block_time timestamptz(3) not null,
  -- Whether the balance rose by the amount; null until the balance was compared after the transfer.
  covered boolean,
  -- The hash of the block of the comparison that decided the transfer.
  decided_in text,
  primary key (entity_id, id),
  unique (entity_id, blockchain, block_hash, log_index, position, direction)
);
create index observed_token_transfers_by_block on observed_token_transfers (blockchain, block_hash);
create index observed_token_transfers_undecided on observed_token_transfers
  (entity_id, address, token_address, block_number, log_index, position, id)
  where covered is null and direction = 'in' and amount > 0;
create index observed_token_transfers_decided on observed_token_transfers (blockchain, decided_in)
  where decided_in is not null;

-- The owners that accounts got in blocks, by the hash of the block.
create table observed_owners (
  entity_id uuid not null,
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  log_index integer not null,
  account text not null,
  owner_ids text[] not null,
  primary key (entity_id, blockchain, block_hash, log_index)
);
create index observed_owners_by_block on observed_owners (blockchain, block_hash);

-- The logs of the contracts of cross-chain messages and unified balances, by the hash of their block. They belong to no entity.
create table observed_crosschain_events (
  blockchain text not null,
  block_hash text not null,
  block_number bigint not null,
  log_index integer not null,
  tx_hash text not null,
  kind text not null,
  -- The other fields of the event; amounts are decimal strings.
  fields jsonb not null,
  block_time timestamptz(3) not null,
  primary key (blockchain, block_hash, log_index)
);

-- Monitors of the events of contracts, and their logs. The logs of a block are written with the block, and removed with it.
create table event_monitors (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  contract_address text not null,
  -- As the caller spelled it; the hash is that of the canonical form.
  event_signature text not null,
  event_signature_hash text not null,
  event_name text not null,
  -- The declared parameters; absent where neither the ABI nor the signature tells which of them topics hold.
  parameters jsonb,
  is_enabled boolean not null default true,
  -- The first block of the history that was asked for.
  from_block bigint,
  deleted_date timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create unique index event_monitors_once
  on event_monitors (entity_id, blockchain, contract_address, event_signature_hash) where deleted_date is null;
-- Not for the checks of foreign keys, which would read all monitors of an entity.
create index event_monitors_page on event_monitors (entity_id, create_date, id) where deleted_date is null;
create index event_monitors_enabled on event_monitors (blockchain, contract_address, event_signature_hash)
  where is_enabled and deleted_date is null;

-- Each is told as a webhook once when it is written, and once when a reorg removes it.
create table event_logs (
  entity_id uuid not null,
  id uuid not null,
  monitor_id uuid not null,
  blockchain text not null,
  contract_address text not null,
  block_hash text not null,
  block_number bigint not null,
  block_time timestamptz(3) not null,
  tx_hash text not null,
  log_index integer not null,
  topics text[] not null,
  -- Absent where it is larger than a log may be here.
  data bytea,
  data_bytes integer not null,
  -- Set while the block is not in the chain.
  removed_date timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, monitor_id) references event_monitors (entity_id, id)
);
-- A log exists once for an entity, however often its block is read or applied.
create unique index event_logs_once on event_logs (entity_id, blockchain, block_hash, log_index);
create index event_logs_page on event_logs (entity_id, create_date, id);
create index event_logs_of_contract on event_logs (entity_id, contract_address, create_date, id);
create index event_logs_of_block on event_logs (blockchain, block_hash);
create trigger event_logs_date_later before update of update_date on event_logs
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- Ranges of blocks whose logs a monitor still has to read: the history before its first block, and blocks with more logs
-- than are written with a block. Removed when read.
create table event_histories (
  entity_id uuid not null,
  id uuid not null,
  monitor_id uuid not null,
  blockchain text not null,
  next_block bigint not null,
  -- The last block; absent until a worker has found the block at which the live side begins.
  to_block bigint,
  -- The time of the block before `next_block`, once that was read.
  reached_date timestamptz(3),
  -- The number of blocks that the next read asks for.
  span integer not null,
  lease_until timestamptz,
  fencing_token bigint not null default 0,
  -- Since when nodes have refused each range that was asked for; null after one that was read.
  refused_since timestamptz(3),
  create_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, monitor_id) references event_monitors (entity_id, id)
);
create index event_histories_open on event_histories (blockchain, entity_id, create_date);
create index event_histories_of_monitor on event_histories (entity_id, monitor_id);
create index event_histories_refused on event_histories (blockchain, refused_since) where refused_since is not null;

-- How far the books of a chain were compared: up to which final block all that moved, and where the slow round over
-- every address stands.
create table reconciliations (
  blockchain text primary key,
  block_number bigint not null default -1,
  round_address text not null default '',
  round_entity_id uuid not null default '00000000-0000-0000-0000-000000000000',
  lease_until timestamptz,
  -- When a comparison ended last, in business time.
  compared_date timestamptz(3)
);

-- A balance that was not the chain's. Written once for each pair of amounts, and never taken back: that the gap is gone
-- shows in the next comparison.
create table reconciliation_gaps (
  entity_id uuid not null,
  id uuid not null,
  blockchain text not null,
  address text not null,
  token_id uuid not null,
  block_number bigint not null,
  block_hash text not null,
  booked numeric(78, 0) not null,
  on_chain numeric(78, 0) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index reconciliation_gaps_page on reconciliation_gaps (entity_id, create_date, id);
create index reconciliation_gaps_by_blockchain on reconciliation_gaps (entity_id, blockchain, create_date, id);
create index reconciliation_gaps_of_address on reconciliation_gaps (entity_id, blockchain, address, token_id, create_date);
create trigger reconciliation_gaps_append_only before update or delete on reconciliation_gaps
  for each statement execute function refuse_change();
revoke update, delete on reconciliation_gaps from bezant_runtime;

-- The balances that differed at their last record: few, and asked for often.
create table open_gaps (
  entity_id uuid not null,
  blockchain text not null,
  address text not null,
  token_id uuid not null,
  gap_id uuid not null,
  -- Since when it differs, whatever the amounts were meanwhile.
  create_date timestamptz(3) not null,
  primary key (entity_id, blockchain, address, token_id)
);
create index open_gaps_by_age on open_gaps (entity_id, create_date);

create function note_open_gaps() returns trigger language plpgsql as $$
begin
  insert into open_gaps as g (entity_id, blockchain, address, token_id, gap_id, create_date)
    select entity_id, blockchain, address, token_id, id, create_date from added where booked <> on_chain
    on conflict (entity_id, blockchain, address, token_id) do update set gap_id = excluded.gap_id;
  delete from open_gaps g using added a
    where a.booked = a.on_chain and g.entity_id = a.entity_id and g.blockchain = a.blockchain
      and g.address = a.address and g.token_id = a.token_id;
  return null;
end $$;
create trigger reconciliation_gaps_noted after insert on reconciliation_gaps referencing new table as added
  for each statement execute function note_open_gaps();

/*
 * Removes up to `batch` canonical blocks of the chain from before `older_than`, and as many of their steps, oldest first.
 * Returns how many of the one or the other. The last seven days stay, whatever is asked for; so do the newest final block
 * and all above it, what an engine has not followed, and everything while the chain is halted.
 */
create function prune_blocks(chain text, older_than timestamptz, batch integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  followed bigint;
  kept_from bigint;
  blocks_removed integer;
  steps_removed integer;
begin
  if exists (select 1 from chain_halts h where h.blockchain = chain) then return 0; end if;
  select min(c.step) into followed from step_cursors c where c.blockchain = chain;
  select least(s.final_to, coalesce(s.complete_to, s.final_to)) into kept_from
    from block_steps s where s.blockchain = chain and s.step = followed;
  if kept_from is null then return 0; end if;

  with old as materialized (
    select b.hash, b.block_time from blocks b
    where b.blockchain = chain and b.canonical and b.number < kept_from order by b.number limit batch
  )
  delete from blocks b using old where b.blockchain = chain and b.hash = old.hash
    and old.block_time < least(older_than, now() - interval '7 days');
  get diagnostics blocks_removed = row_count;

  select min(b.number) into kept_from from blocks b where b.blockchain = chain and b.canonical;
  with old as materialized (
    select s.step, s.block_number from block_steps s
    where s.blockchain = chain and s.step < followed order by s.step limit batch
  )
  delete from block_steps s using old where s.blockchain = chain and s.step = old.step and old.block_number < kept_from;
  get diagnostics steps_removed = row_count;
  return greatest(blocks_removed, steps_removed);
end $$;
revoke execute on function prune_blocks from public;
grant execute on function prune_blocks to bezant_runtime;

-- Whether the block that ended a transaction is still on the chain: what is built on one that is not, is taken back.
create view canonical_blocks as select blockchain, hash, number from blocks where canonical;

-- A block that is not here any more was final: only orphaned ones are told apart by their row, which stays.
create view orphaned_blocks as select blockchain, hash from blocks where not canonical;

create view halted_chains as select blockchain from chain_halts;

-- Up to which block an engine knows of a chain that it has its confirmations.
create view followed_confirmations as
  select c.engine, c.blockchain, coalesce(s.complete_to, s.final_to) as complete_to
  from step_cursors c join block_steps s on s.blockchain = c.blockchain and s.step = c.step;

-- Transfers that came to deposit addresses and treasuries from outside, or left them, by blocks that were applied or taken back
-- (then it is negative) and that an engine has not followed yet. `offset 0` has it read forwards from the cursors, which
-- are most often at the last step, whatever the planner thinks of it.
create view unfollowed_transfers as
  select e.engine, o.entity_id, t.currency, o.direction,
    case s.kind when 'applied' then o.amount else -o.amount end as amount
  from (values ('transactions'), ('treasury')) as e (engine)
  cross join (select distinct blockchain from tokens where currency is not null) k
  left join step_cursors c on c.engine = e.engine and c.blockchain = k.blockchain
  cross join lateral (select kind, block_hash from block_steps
    where blockchain = k.blockchain and step > coalesce(c.step, 0) offset 0) s
  cross join lateral (select * from observed_transfers
    where blockchain = k.blockchain and block_hash = s.block_hash and purpose in ('deposit', 'treasury') offset 0) o
  join tokens t on t.id = o.token_id
  where t.currency is not null
    and not exists (select 1 from observed_transfers i
      where i.entity_id = o.entity_id and i.blockchain = o.blockchain and i.block_hash = o.block_hash
        and i.tx_hash = o.tx_hash and i.kind = o.kind and i.position = o.position and i.direction <> o.direction
        and i.purpose in ('deposit', 'treasury'));

create view treasury_arrivals as
  select o.entity_id, o.blockchain, o.tx_hash, o.address, o.block_number, t.currency, o.amount
  from observed_transfers o join tokens t on t.id = o.token_id
  where o.purpose = 'treasury' and o.direction = 'in' and t.currency is not null
    and exists (select 1 from blocks b where b.blockchain = o.blockchain and b.hash = o.block_hash and b.canonical);

-- Event logs as webhooks show them, see `notified_kinds`.
create view notified_event_logs as
  select entity_id, id, update_date, null::jsonb as snapshot from event_logs;
