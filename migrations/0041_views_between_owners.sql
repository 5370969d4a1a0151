-- Views by which one part reads the rows of another, so that a choice is stored and listed in one place.

-- Notifications: the kinds of resources that are notified stand in one function, and are tested against the program's
-- topics. Events of other kinds are not queued.
alter view told_resources rename to notified_resources;

create function notified_kinds() returns text[] language sql immutable as $$
  select array['paymentIntent', 'payment', 'payout', 'transfer', 'addressBookRecipient']
$$;

create or replace function queue_events() returns trigger language plpgsql as $$
begin
  insert into queued_events (entity_id, id, type, resource_id, update_date, create_date)
  select e.entity_id, e.id, e.type, e.resource_id, coalesce(r.update_date, e.create_date), e.create_date
  from added e left join lateral (select n.update_date from notified_resources n
    where n.kind = split_part(e.type, '.', 1) and n.entity_id = e.entity_id and n.id = e.resource_id::uuid) r on true
  where split_part(e.type, '.', 1) = any (notified_kinds())
    and exists (select 1 from notification_subscription_details d
      where d.entity_id = e.entity_id and d.status = 'confirmed')
  order by e.id;
  if found then
    perform pg_notify('queued_events', '');
  end if;
  return null;
end $$;

-- Monitored tokens: the tokens that an entity excluded by selecting others. Lists of balances and transactions omit them.
create view unmonitored_tokens as
  select s.entity_id, t.id as token_id
  from monitored_token_scopes s cross join tokens t
  where s.scope = 'SELECTED' and not exists (select 1 from monitored_tokens m
    where m.entity_id = s.entity_id and m.token_id = t.id);
