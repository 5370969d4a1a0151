-- Proof that the coins of the platform are what it owes its merchants: docs/decisions/0017 says which sums are compared.

-- Coins that somebody sent to a treasury: they are on the chain, and no merchant was credited with them.
alter table accounts drop constraint accounts_kind_check;
alter table accounts add constraint accounts_kind_check
  check (kind in ('address', 'outside', 'fees', 'difference', 'wallet', 'settlement', 'unclaimed'));
alter table accounts drop constraint accounts_unit_check;
alter table accounts add constraint accounts_unit_check
  check ((kind in ('wallet', 'settlement', 'unclaimed')) = (token_id is null) and (token_id is null) = (currency is not null));

create view unclaimed_accounts as
  select entity_id, currency, address, posted from accounts where kind = 'unclaimed';

-- Up to which block an engine knows of a chain that it is final.
create view followed_finality as
  select c.engine, c.blockchain, s.final_to
  from step_cursors c join block_steps s on s.blockchain = c.blockchain and s.step = c.step;
-- What came to deposit addresses and treasuries from outside, or left them, by blocks that were applied or taken back
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
        and i.tx_hash = o.tx_hash and i.log_index = o.log_index and i.direction <> o.direction
        and i.purpose in ('deposit', 'treasury'));

-- When the sums are compared next, by whichever process comes first.
create table money_watch (
  one boolean primary key default true check (one),
  due timestamptz not null
);

-- A sum that was not what it had to be. Written once for each amount, and never taken back.
create table money_gaps (
  entity_id uuid not null,
  id uuid not null,
  currency text not null,
  owed numeric(78, 0) not null,
  coins numeric(78, 0) not null,
  -- The coins less what accounts for them.
  gap numeric(78, 0) not null,
  create_date timestamptz(3) not null,
  primary key (entity_id, id)
);
create index money_gaps_of_currency on money_gaps (entity_id, currency, create_date);
create trigger money_gaps_append_only before update or delete on money_gaps
  for each statement execute function refuse_change();
revoke update, delete on money_gaps from bezant_runtime;
