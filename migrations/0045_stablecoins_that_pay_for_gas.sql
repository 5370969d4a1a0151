-- Where the native coin is a stablecoin, the coins of merchants and those that pay for gas are one balance of a treasury
-- (docs/decisions/0181). The account `unclaimed` of a token is the part of the account `address` beside it that no merchant
-- owns. A treasury pays gas out of that part alone, and payments out of the rest.

update tokens set currency = 'USD' where is_native and blockchain in ('ARC', 'ARC-TESTNET');

alter table accounts drop constraint accounts_unit_check;
alter table accounts add constraint accounts_unit_check
  check ((token_id is null) = (currency is not null)
    and (kind in ('adjustment', 'unclaimed', 'settlement') or (kind = 'wallet') = (token_id is null)));

-- `gas`: coins that a treasury sends for gas beside fees, such as a deposit of a paymaster.
alter table holds drop constraint holds_purpose_check;
alter table holds add constraint holds_purpose_check check (purpose in ('amount', 'fee', 'money', 'review', 'gas'));

-- A hold for gas on an address is one on its unclaimed coins, too, which are locked with it.
create or replace function apply_holds() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  perform 1 from accounts a where (a.entity_id, a.id) in (
      select entity_id, account_id from added
      union all select u.entity_id, u.id from added n
        join accounts o on o.entity_id = n.entity_id and o.id = n.account_id and o.kind = 'address'
        join accounts u on u.entity_id = o.entity_id and u.address = o.address and u.token_id = o.token_id and u.kind = 'unclaimed')
    order by a.entity_id, a.id for no key update;
  update accounts a set held = a.held + sums.amount
    from (select entity_id, account_id, sum(amount) as amount from added group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.account_id;
  update accounts a set held = a.held + sums.amount
    from (select u.entity_id, u.id, sum(n.amount) as amount from added n
      join accounts o on o.entity_id = n.entity_id and o.id = n.account_id and o.kind = 'address'
      join accounts u on u.entity_id = o.entity_id and u.address = o.address and u.token_id = o.token_id and u.kind = 'unclaimed'
      where n.purpose in ('fee', 'gas') group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.id;
  -- A hold made again after a reorg must not fail: what it holds has left before and may leave again.
  if current_setting('bezant.hold_regardless', true) is distinct from 'on' and (exists (
    select 1 from accounts a where (a.entity_id, a.id) in (select entity_id, account_id from added)
      and a.posted - a.held < 0
  ) or exists (
    select 1 from added n
      join accounts o on o.entity_id = n.entity_id and o.id = n.account_id and o.kind = 'address'
      join accounts u on u.entity_id = o.entity_id and u.address = o.address and u.token_id = o.token_id and u.kind = 'unclaimed'
      where (n.purpose in ('fee', 'gas') and u.posted < u.held)
        or (n.purpose = 'amount' and o.posted - o.held < u.posted - u.held)
  )) then
    raise exception 'a hold exceeds what the account has' using errcode = 'check_violation', constraint = 'holds_covered';
  end if;
  return null;
end $$;

create or replace function apply_resolutions() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  perform 1 from accounts a where (a.entity_id, a.id) in (
      select h.entity_id, h.account_id from added r join holds h on h.entity_id = r.entity_id and h.id = r.hold_id
      union all select u.entity_id, u.id from added r join holds h on h.entity_id = r.entity_id and h.id = r.hold_id
        join accounts o on o.entity_id = h.entity_id and o.id = h.account_id and o.kind = 'address'
        join accounts u on u.entity_id = o.entity_id and u.address = o.address and u.token_id = o.token_id and u.kind = 'unclaimed')
    order by a.entity_id, a.id for no key update;
  update accounts a set held = a.held - sums.amount
    from (select h.entity_id, h.account_id, sum(h.amount) as amount
      from added r join holds h on h.entity_id = r.entity_id and h.id = r.hold_id group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.account_id;
  update accounts a set held = a.held - sums.amount
    from (select u.entity_id, u.id, sum(h.amount) as amount
      from added r join holds h on h.entity_id = r.entity_id and h.id = r.hold_id
      join accounts o on o.entity_id = h.entity_id and o.id = h.account_id and o.kind = 'address'
      join accounts u on u.entity_id = o.entity_id and u.address = o.address and u.token_id = o.token_id and u.kind = 'unclaimed'
      where h.purpose in ('fee', 'gas') group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.id;
  return null;
end $$;

-- An amount of a token in millionths of its currency, exactly.
create function in_millionths(amount numeric, decimals integer) returns numeric language sql immutable parallel safe
  return case decimals when 6 then amount else amount * power(10::numeric, 6 - decimals) end;

-- The sums of money are in millionths of a currency, whatever digits a coin has.
drop view held_coins;
create view held_coins as
  select h.entity_id, h.intent_id, t.currency, in_millionths(h.amount, t.decimals) as amount
  from holds h join accounts a on a.entity_id = h.entity_id and a.id = h.account_id
  join tokens t on t.id = a.token_id and t.currency is not null
  where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id);

drop view coin_accounts;
create view coin_accounts as
  select a.entity_id, a.blockchain, a.address, t.currency, in_millionths(a.posted, t.decimals) as posted
  from accounts a join tokens t on t.id = a.token_id where a.kind = 'address' and t.currency is not null;

drop view unclaimed_accounts;
create view unclaimed_accounts as
  select a.entity_id, coalesce(a.currency, t.currency) as currency, a.address,
    in_millionths(a.posted, coalesce(t.decimals, 6)) as posted
  from accounts a left join tokens t on t.id = a.token_id where a.kind = 'unclaimed';

-- The native coins that a treasury sends as the value of a transaction are for gas: they leave its unclaimed coins by the block.
drop view unfollowed_transfers;
create view unfollowed_transfers as
  select e.engine, o.entity_id, t.currency, o.direction,
    in_millionths(case s.kind when 'applied' then o.amount else -o.amount end, t.decimals) as amount
  from (values ('transactions'), ('treasury')) as e (engine)
  cross join (select distinct blockchain from tokens where currency is not null) k
  left join step_cursors c on c.engine = e.engine and c.blockchain = k.blockchain
  cross join lateral (select kind, block_hash from block_steps
    where blockchain = k.blockchain and step > coalesce(c.step, 0) offset 0) s
  cross join lateral (select * from observed_transfers
    where blockchain = k.blockchain and block_hash = s.block_hash and purpose in ('deposit', 'treasury') offset 0) o
  join tokens t on t.id = o.token_id
  where t.currency is not null
    and not (t.is_native and o.direction = 'out' and o.kind = 'value')
    and not exists (select 1 from observed_transfers i
      where i.entity_id = o.entity_id and i.blockchain = o.blockchain and i.block_hash = o.block_hash
        and i.tx_hash = o.tx_hash and i.kind = o.kind and i.position = o.position and i.direction <> o.direction
        and i.purpose in ('deposit', 'treasury'));

drop view treasury_arrivals;
create view treasury_arrivals as
  select o.entity_id, o.blockchain, o.tx_hash, o.address, o.block_number, t.currency,
    in_millionths(o.amount, t.decimals) as amount, o.block_hash, o.kind, o.position
  from observed_transfers o join tokens t on t.id = o.token_id
  where o.purpose = 'treasury' and o.direction = 'in' and t.currency is not null
    and exists (select 1 from blocks b where b.blockchain = o.blockchain and b.hash = o.block_hash and b.canonical);

-- Until now no merchant had coins there: all that a treasury has is for gas. Transfers that the treasury has not followed are
-- booked when it does.
-- A treasury that had no coins yet has the account from now on, too: holds for gas that were placed before it would not be held on it.
create temporary table opened on commit drop as
  select m.entity_id, a.id as account_id, t.id as token_id, m.blockchain, m.address, gen_random_uuid() as posting_id,
    gen_random_uuid() as unclaimed_id, gen_random_uuid() as settlement_id,
    coalesce(a.posted, 0) - coalesce((select sum(case s.kind when 'applied' then o.amount else -o.amount end)
      from block_steps s left join step_cursors c on c.engine = 'treasury' and c.blockchain = s.blockchain
      join observed_transfers o on o.blockchain = s.blockchain and o.block_hash = s.block_hash
      where s.blockchain = m.blockchain and s.step > coalesce(c.step, 0) and o.entity_id = m.entity_id
        and o.address = m.address and o.token_id = t.id and o.direction = 'in' and o.purpose = 'treasury'), 0) as amount
  from managed_addresses m join tokens t on t.blockchain = m.blockchain and t.is_native and t.currency is not null
  left join accounts a on a.entity_id = m.entity_id and a.address = m.address and a.token_id = t.id and a.kind = 'address'
  where m.purpose = 'treasury';
insert into accounts (entity_id, id, kind, token_id, blockchain, address, held, create_date, update_date)
  select entity_id, unclaimed_id, 'unclaimed', token_id, blockchain, address,
    coalesce((select sum(h.amount) from holds h where h.entity_id = o.entity_id and h.account_id = o.account_id and h.purpose = 'fee'
      and not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)), 0), now(), now()
  from opened o;
insert into accounts (entity_id, id, kind, token_id, blockchain, address, create_date, update_date)
  select entity_id, settlement_id, 'settlement', token_id, blockchain, address, now(), now() from opened;
insert into postings (entity_id, id, blockchain, block_hash, fact, create_date)
  select entity_id, posting_id, blockchain, '', 'unclaimed:opened:' || address, now() from opened where amount <> 0;
insert into entries (entity_id, posting_id, account_id, amount, create_date)
  select entity_id, posting_id, unclaimed_id, amount, now() from opened where amount <> 0
  union all select entity_id, posting_id, settlement_id, -amount, now() from opened where amount <> 0;
