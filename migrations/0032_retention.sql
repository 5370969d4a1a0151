-- Blocks and steps grow with every block of every chain, and prove no money: entries, holds, signatures and what was observed
-- name blocks by their hash and stay. The program may remove old ones by this function alone, which keeps what may be needed.

-- A block that is not here any more was final: only orphaned ones are told apart by their row, which stays.
create view orphaned_blocks as select blockchain, hash from blocks where not canonical;

-- No query asks for orphaned blocks by their number.
drop index blocks_by_number;

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
revoke delete on blocks, block_steps from bezant_runtime;
revoke update on block_steps from bezant_runtime;
