-- Holds are applied to accounts that are found by their keys, one after the other. Until a table was analysed, the planner takes a few
-- rows to be of one entity, joined accounts by their entity alone, and compared each of them with each hold of a block.

create or replace function apply_holds() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  perform 1 from accounts a where (a.entity_id, a.id) in (
      select entity_id, account_id from added
      union all select u.entity_id, u.id from added n
        cross join lateral (select * from accounts x where x.entity_id = n.entity_id and x.id = n.account_id
          and x.kind = 'address' offset 0) o
        cross join lateral (select * from accounts x where x.entity_id = o.entity_id and x.address = o.address
          and x.token_id = o.token_id and x.kind = 'unclaimed' offset 0) u)
    order by a.entity_id, a.id for no key update;
  update accounts a set held = a.held + sums.amount
    from (select entity_id, account_id, sum(amount) as amount from added group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.account_id;
  update accounts a set held = a.held + sums.amount
    from (select u.entity_id, u.id, sum(n.amount) as amount from added n
      cross join lateral (select * from accounts x where x.entity_id = n.entity_id and x.id = n.account_id
        and x.kind = 'address' offset 0) o
      cross join lateral (select * from accounts x where x.entity_id = o.entity_id and x.address = o.address
        and x.token_id = o.token_id and x.kind = 'unclaimed' offset 0) u
      where n.purpose in ('fee', 'gas') group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.id;
  -- A hold made again after a reorg must not fail: what it holds has left before and may leave again.
  if current_setting('bezant.hold_regardless', true) is distinct from 'on' and (exists (
    select 1 from accounts a where (a.entity_id, a.id) in (select entity_id, account_id from added)
      and a.posted - a.held < 0
  ) or exists (
    select 1 from added n
      cross join lateral (select * from accounts x where x.entity_id = n.entity_id and x.id = n.account_id
        and x.kind = 'address' offset 0) o
      cross join lateral (select * from accounts x where x.entity_id = o.entity_id and x.address = o.address
        and x.token_id = o.token_id and x.kind = 'unclaimed' offset 0) u
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
      select h.entity_id, h.account_id from added r
        cross join lateral (select * from holds x where x.entity_id = r.entity_id and x.id = r.hold_id offset 0) h
      union all select u.entity_id, u.id from added r
        cross join lateral (select * from holds x where x.entity_id = r.entity_id and x.id = r.hold_id offset 0) h
        cross join lateral (select * from accounts x where x.entity_id = h.entity_id and x.id = h.account_id
          and x.kind = 'address' offset 0) o
        cross join lateral (select * from accounts x where x.entity_id = o.entity_id and x.address = o.address
          and x.token_id = o.token_id and x.kind = 'unclaimed' offset 0) u)
    order by a.entity_id, a.id for no key update;
  update accounts a set held = a.held - sums.amount
    from (select h.entity_id, h.account_id, sum(h.amount) as amount from added r
      cross join lateral (select * from holds x where x.entity_id = r.entity_id and x.id = r.hold_id offset 0) h
      group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.account_id;
  update accounts a set held = a.held - sums.amount
    from (select u.entity_id, u.id, sum(h.amount) as amount from added r
      cross join lateral (select * from holds x where x.entity_id = r.entity_id and x.id = r.hold_id offset 0) h
      cross join lateral (select * from accounts x where x.entity_id = h.entity_id and x.id = h.account_id
        and x.kind = 'address' offset 0) o
      cross join lateral (select * from accounts x where x.entity_id = o.entity_id and x.address = o.address
        and x.token_id = o.token_id and x.kind = 'unclaimed' offset 0) u
      where h.purpose in ('fee', 'gas') group by 1, 2) sums
    where a.entity_id = sums.entity_id and a.id = sums.id;
  return null;
end $$;
