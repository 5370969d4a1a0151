-- The schema in the form that a distributed PostgreSQL needs: `bezant migrate --distributed` runs this file each time. Its triggers do
-- the same as the functions that migrations have made, in their place. There a trigger runs beside the rows of its shard, and no
-- statement on a table of tenants can read a transition table. Such triggers gather what was added into arrays, entity by entity in one
-- order, and every statement on tables of tenants names one entity. Beside a join with an array, the array bounds the rows that are
-- read, by the index of keys, however the planner joins. One server would take up to four times as long for them.
-- The number above a function names the migration that made it last.

-- 0004
create or replace function queue_flow() returns trigger language plpgsql as $$
declare
  each record;
begin
  for each in
    with transfers as (
      select entity_id, id, block_hash, fact, split_part(fact, ':', -2) as direction from added
      where block_hash <> '' and fact ~ ':(in|out):[^:]+$'
    )
    select t.entity_id, array_agg(t.id order by t.id) as ids from transfers t
    where not exists (select 1 from transfers o where o.entity_id = t.entity_id and o.block_hash = t.block_hash
      and o.direction <> t.direction
      and regexp_replace(o.fact, ':(in|out):([^:]+)$', ':\2') = regexp_replace(t.fact, ':(in|out):([^:]+)$', ':\2'))
    group by t.entity_id order by t.entity_id
  loop
    insert into uncounted_flow (entity_id, id) select each.entity_id, id from unnest(each.ids) as n(id);
  end loop;
  return null;
end $$;

-- The server that has a posting writes its entries, too, and its own transaction tells that they come together: the default of a
-- column would be the transaction of the server that the program talks to.
create or replace function note_own_tx() returns trigger language plpgsql as $$
begin
  new.written_by := pg_current_xact_id();
  return new;
end $$;
do $$
begin
  if not exists (select from pg_trigger where tgrelid = 'postings'::regclass and tgname = 'postings_own_tx') then
    create trigger postings_own_tx before insert on postings for each row execute function note_own_tx();
  end if;
end $$;

-- 0004
create or replace function apply_entries() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
declare
  each record;
begin
  for each in
    select s.entity_id, array_agg(s.account_id order by s.account_id) as accounts, array_agg(s.amount order by s.account_id) as amounts,
      array_agg(s.at order by s.account_id) as dates
    from (select entity_id, account_id, sum(amount) as amount, max(create_date) as at from added group by 1, 2) s
    group by s.entity_id order by s.entity_id
  loop
    perform 1 from accounts a where a.entity_id = each.entity_id and a.id = any(each.accounts) order by a.id for no key update;
    update accounts a set posted = a.posted + sums.amount, update_date = greatest(a.update_date, sums.at)
      from unnest(each.accounts, each.amounts, each.dates) as sums(id, amount, at)
      where a.entity_id = each.entity_id and a.id = any(each.accounts) and a.id = sums.id;
  end loop;
  return null;
end $$;

-- 0004
create or replace function check_zero_sum() returns trigger language plpgsql as $$
declare
  each record;
  unbalanced uuid;
begin
  for each in
    select entity_id, array_agg(posting_id) as postings, array_agg(account_id) as accounts, array_agg(amount) as amounts
    from added group by entity_id
  loop
    select e.posting_id into unbalanced
      from unnest(each.postings, each.accounts, each.amounts) as e(posting_id, account_id, amount)
      join accounts a on a.entity_id = each.entity_id and a.id = any(each.accounts) and a.id = e.account_id
      group by e.posting_id, a.token_id, a.currency having sum(e.amount) <> 0 limit 1;
    if unbalanced is not null then
      raise exception 'the entries of posting % do not sum to zero', unbalanced
        using errcode = 'check_violation', constraint = 'entries_zero_sum';
    end if;
  end loop;
  return null;
end $$;

-- 0004
create or replace function entries_join_own_tx() returns trigger language plpgsql as $$
declare
  each record;
begin
  for each in
    select entity_id, array_agg(posting_id) as postings, array_agg(create_date) as dates
    from (select distinct entity_id, posting_id, create_date from added) e group by entity_id
  loop
    if exists (
      select 1 from unnest(each.postings, each.dates) as e(posting_id, create_date)
      join postings p on p.entity_id = each.entity_id and p.id = any(each.postings) and p.id = e.posting_id
      where p.written_by <> pg_current_xact_id() or p.create_date <> e.create_date
    ) then
      raise exception 'entries are written with their posting, and have its date' using errcode = 'check_violation';
    end if;
  end loop;
  return null;
end $$;

-- 0004
create or replace function check_adjustments() returns trigger language plpgsql as $$
declare
  each record;
begin
  for each in
    select entity_id, array_agg(posting_id) as postings, array_agg(account_id) as accounts from added group by entity_id
  loop
    if exists (
      select 1 from unnest(each.postings, each.accounts) as e(posting_id, account_id)
      join accounts a on a.entity_id = each.entity_id and a.id = any(each.accounts) and a.id = e.account_id
      where a.kind = 'adjustment' and not exists (
        select 1 from postings p join adjustments j on j.entity_id = p.entity_id and p.fact = 'adjustment:' || j.id
        where p.entity_id = each.entity_id and p.id = e.posting_id)
    ) then
      raise exception 'what is booked as an adjustment has a name and a reason'
        using errcode = 'check_violation', constraint = 'entries_adjusted_by_name';
    end if;
  end loop;
  return null;
end $$;

-- 0060
create or replace function apply_holds() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
declare
  each record;
  beside uuid[];
  has_beside boolean;
begin
  for each in
    select s.entity_id, array_agg(s.account_id order by s.account_id) as accounts, array_agg(s.amount order by s.account_id) as amounts,
      array_agg(s.gas order by s.account_id) as gas, array_agg(s.has_amount order by s.account_id) as have_amount
    from (select entity_id, account_id, sum(amount) as amount,
        coalesce(sum(amount) filter (where purpose in ('fee', 'gas')), 0) as gas, bool_or(purpose = 'amount') as has_amount
      from added group by 1, 2) s
    group by s.entity_id order by s.entity_id
  loop
    -- The unclaimed coins beside each account of an address, in the order of the accounts; null where there are none.
    select array_agg(u.id order by n.number) into beside
      from unnest(each.accounts) with ordinality as n(id, number)
      left join accounts o on o.entity_id = each.entity_id and o.id = any(each.accounts) and o.id = n.id and o.kind = 'address'
      left join accounts u on u.entity_id = each.entity_id and u.address = o.address and u.token_id = o.token_id
        and u.kind = 'unclaimed';
    has_beside := cardinality(array_remove(beside, null)) > 0;
    perform 1 from accounts a where a.entity_id = each.entity_id and a.id = any(each.accounts || beside)
      order by a.id for no key update;
    update accounts a set held = a.held + sums.amount
      from unnest(each.accounts, each.amounts) as sums(id, amount)
      where a.entity_id = each.entity_id and a.id = any(each.accounts) and a.id = sums.id;
    if has_beside then
      update accounts a set held = a.held + sums.gas
        from unnest(beside, each.gas) as sums(id, gas)
        where a.entity_id = each.entity_id and a.id = any(beside) and a.id = sums.id and sums.gas > 0;
    end if;
    -- A hold made again after a reorg must not fail: what it holds has left before and may leave again.
    if current_setting('bezant.hold_regardless', true) is distinct from 'on' and (exists (
      select 1 from accounts a where a.entity_id = each.entity_id and a.id = any(each.accounts) and a.posted - a.held < 0
    ) or has_beside and exists (
      select 1 from unnest(each.accounts, beside, each.gas, each.have_amount) as n(id, unclaimed_id, gas, has_amount)
        join accounts o on o.entity_id = each.entity_id and o.id = any(each.accounts) and o.id = n.id
        join accounts u on u.entity_id = each.entity_id and u.id = any(beside) and u.id = n.unclaimed_id
        where (n.gas > 0 and u.posted < u.held) or (n.has_amount and o.posted - o.held < u.posted - u.held)
    )) then
      raise exception 'a hold exceeds what the account has'
        using errcode = 'check_violation', constraint = 'holds_covered', detail = 'constraint "holds_covered"';
    end if;
  end loop;
  return null;
end $$;

-- 0060
create or replace function apply_resolutions() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
declare
  each record;
  sums record;
begin
  for each in select entity_id, array_agg(hold_id) as holds from added group by entity_id order by entity_id loop
    -- Of each account: what its resolved holds held; and of those for gas, the same of the unclaimed coins beside it.
    select array_agg(s.id order by s.id) as accounts, array_agg(s.amount order by s.id) as amounts into sums from (
      select r.id, sum(r.amount) as amount from (
        select h.account_id as id, h.amount from holds h where h.entity_id = each.entity_id and h.id = any(each.holds)
        union all
        select u.id, case when h.purpose in ('fee', 'gas') then h.amount else 0 end from holds h
        join accounts o on o.entity_id = h.entity_id and o.id = h.account_id and o.kind = 'address'
        join accounts u on u.entity_id = o.entity_id and u.address = o.address and u.token_id = o.token_id and u.kind = 'unclaimed'
        where h.entity_id = each.entity_id and h.id = any(each.holds)) r
      group by r.id) s;
    perform 1 from accounts a where a.entity_id = each.entity_id and a.id = any(sums.accounts) order by a.id for no key update;
    update accounts a set held = a.held - s.amount
      from unnest(sums.accounts, sums.amounts) as s(id, amount)
      where a.entity_id = each.entity_id and a.id = any(sums.accounts) and a.id = s.id and s.amount > 0;
  end loop;
  return null;
end $$;

-- 0039
create or replace function note_late_postings() returns trigger language plpgsql as $$
declare
  through date;
  each record;
begin
  select closed_through into through from closed_days;
  if through is null then return null; end if;
  for each in
    select entity_id, array_agg(id) as ids from added where (create_date at time zone 'UTC')::date <= through
    group by entity_id order by entity_id
  loop
    insert into late_postings (entity_id, posting_id, day) select each.entity_id, id, through + 1 from unnest(each.ids) as n(id);
  end loop;
  return null;
end $$;

-- 0005
create or replace function note_open_gaps() returns trigger language plpgsql as $$
declare
  each record;
begin
  for each in
    select entity_id, array_agg(blockchain) as chains, array_agg(address) as addresses, array_agg(token_id) as tokens,
      array_agg(id) as ids, array_agg(booked <> on_chain) as differ, array_agg(create_date) as dates
    from added group by entity_id order by entity_id
  loop
    insert into open_gaps as g (entity_id, blockchain, address, token_id, gap_id, create_date)
      select each.entity_id, n.blockchain, n.address, n.token_id, n.id, n.create_date
      from unnest(each.chains, each.addresses, each.tokens, each.ids, each.dates, each.differ)
        as n(blockchain, address, token_id, id, create_date, differs) where n.differs
      on conflict (entity_id, blockchain, address, token_id) do update set gap_id = excluded.gap_id;
    delete from open_gaps g using unnest(each.chains, each.addresses, each.tokens, each.differ) as n(blockchain, address, token_id, differs)
      where g.entity_id = each.entity_id and not n.differs and g.blockchain = n.blockchain and g.address = n.address
        and g.token_id = n.token_id;
  end loop;
  return null;
end $$;

-- 0012
create or replace function queue_audit() returns trigger language plpgsql as $$
declare
  each record;
begin
  for each in select entity_id, array_agg(id order by create_date, id) as ids from added group by entity_id order by entity_id loop
    insert into unlinked_audit (entity_id, id)
      select each.entity_id, id from unnest(each.ids) with ordinality as n(id, number) order by n.number;
  end loop;
  return null;
end $$;

-- A function that looks a resource up in the table of its kind alone, which such a server would not find among those of the view.
do $$
begin
  execute 'create or replace function notified_resource(of_kind text, of_entity uuid, of_id uuid, out update_date timestamptz, '
    'out snapshot jsonb) language plpgsql stable as $body$ begin case of_kind ' || (
    select string_agg(
      format('when %L then select n.update_date, n.snapshot into update_date, snapshot from %I n '
        'where n.entity_id = of_entity and n.id = of_id limit 1; ', kind, view), '' order by kind)
    from notified_kinds) || 'end case; end $body$';
end $$;

-- 0015
create or replace function queue_events() returns trigger language plpgsql as $$
declare
  each record;
  has_v1 boolean;
  has_v2 boolean;
  told text;
  resource record;
  is_queued boolean := false;
begin
  for each in
    select entity_id, array_agg(id order by id) as ids, array_agg(type order by id) as types,
      array_agg(resource_id order by id) as resources, array_agg(create_date order by id) as dates
    from added group by entity_id order by entity_id
  loop
    select exists (select 1 from notified_lines l where l.entity_id = each.entity_id and l.line = 'v1'),
      exists (select 1 from notified_lines l where l.entity_id = each.entity_id and l.line = 'v2') into has_v1, has_v2;
    continue when not has_v1 and not has_v2;
    for i in 1 .. cardinality(each.ids) loop
      select k.kind into told from notified_kinds k
        where k.kind = split_part(each.types[i], '.', 1) and ((k.line = 'v1' and has_v1) or (k.line = 'v2' and has_v2));
      continue when told is null;
      resource := notified_resource(told, each.entity_id, each.resources[i]::uuid);
      insert into queued_events (entity_id, id, type, resource_id, update_date, snapshot, is_held, create_date) values
        (each.entity_id, each.ids[i], each.types[i], each.resources[i], coalesce(resource.update_date, each.dates[i]), resource.snapshot,
          each.types[i] = 'transaction.failed' and resource.snapshot is not null
            and resource.snapshot ->> 'errorReason' = 'FAILED_ON_CHAIN' and resource.snapshot ->> 'errorDetails' is null,
          each.dates[i]);
      is_queued := true;
    end loop;
  end loop;
  -- A shard has another name, and its transaction commits in two phases, in which PostgreSQL takes no notices.
  if is_queued and tg_table_name = 'events' then
    perform pg_notify('queued_events', '');
  end if;
  return null;
end $$;

-- The text of each refusal names its constraint, since such a server passes on texts alone.
-- 0028
create or replace function check_replacement() returns trigger language plpgsql as $$
declare
  last signatures%rowtype;
begin
  select * into last from signatures s where s.entity_id = new.entity_id and s.address = new.address
    and s.blockchain = new.blockchain and s.nonce = new.nonce and s.ordinal = new.ordinal - 1;
  if last.digest is distinct from new.replaces then
    raise exception 'nonce % of % on %: a replacement must name what was signed last', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_linked', table = tg_table_name,
      detail = 'constraint "signatures_linked"';
  end if;
  if new.intent_id <> last.intent_id and not new.noop then
    raise exception 'nonce % of % on % belongs to another intent', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_of_one_intent', table = tg_table_name,
      detail = 'constraint "signatures_of_one_intent"';
  end if;
  if new.max_fee < greatest(ceil(last.max_fee * 1.1), last.max_fee + 1)
    or new.priority_fee < greatest(ceil(last.priority_fee * 1.1), last.priority_fee + 1) then
    raise exception 'nonce % of % on %: a replacement must offer a tenth more in cap and tip', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_offer_more', table = tg_table_name,
      detail = 'constraint "signatures_offer_more"';
  end if;
  if new.expires_ms is distinct from last.expires_ms
    and coalesce((new.death_proof -> 'block' ->> 'timeMs')::bigint >= last.expires_ms
      and (new.death_proof ->> 'nextNonce')::bigint <= new.nonce, false) is false then
    raise exception 'nonce % of % on %: another expiry needs a proof that the last one passed unused', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_after_death', table = tg_table_name,
      detail = 'constraint "signatures_after_death"';
  end if;
  if (last.last_height is not null or new.last_height is not null)
    and coalesce((new.death_proof -> 'block' ->> 'number')::bigint >= last.last_height, false) is false then
    raise exception 'nonce % of % on %: what lives up to a height is replaced after a proof that it ended there', new.nonce, new.address, new.blockchain
      using errcode = 'check_violation', constraint = 'signatures_after_death', table = tg_table_name,
      detail = 'constraint "signatures_after_death"';
  end if;
  return new;
end $$;

-- Messages and unified transfers are on the coordinator alone, to which no key of a shard can lead. The statements that change them
-- change their links as well.
alter table entity_messages drop constraint if exists entity_messages_id_fkey;
alter table entity_unified_transfers drop constraint if exists entity_unified_transfers_id_fkey;
