-- Notifications of a resource carry an order: each change dates it later than the one before, whatever the clocks of the
-- hosts say, and each event is queued with the date that its resource has by it.

create function date_later() returns trigger language plpgsql as $$
begin
  new.update_date := old.update_date + interval '1 millisecond';
  return new;
end $$;
create trigger payment_intents_date_later before update of update_date on payment_intents
  for each row when (new.update_date <= old.update_date) execute function date_later();
create trigger payments_date_later before update of update_date on payments
  for each row when (new.update_date <= old.update_date) execute function date_later();
create trigger payouts_date_later before update of update_date on payouts
  for each row when (new.update_date <= old.update_date) execute function date_later();
create trigger transfers_date_later before update of update_date on transfers
  for each row when (new.update_date <= old.update_date) execute function date_later();
create trigger recipients_date_later before update of update_date on recipients
  for each row when (new.update_date <= old.update_date) execute function date_later();
create trigger recipient_addresses_date_later before update of update_date on recipient_addresses
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- By the first part of the types of their events.
create view told_resources as
  select 'paymentIntent' as kind, entity_id, id, update_date from payment_intents
  union all select 'payment', entity_id, id, update_date from payments
  union all select 'payout', entity_id, id, update_date from payouts
  union all select 'transfer', entity_id, id, update_date from transfers
  union all select 'addressBookRecipient', entity_id, id, update_date from recipients
  union all select 'addressBookRecipient', entity_id, id, update_date from recipient_addresses;

-- Rows of one resource are written one after another, in the lock of that resource; ids are made by the clocks of hosts.
alter table queued_events add column sequence bigint generated always as identity;
create index queued_events_in_order on queued_events (entity_id, sequence);
alter table queued_events add column update_date timestamptz(3);
update queued_events q set update_date = coalesce((select max(r.update_date) from told_resources r
  where r.entity_id = q.entity_id and r.id = q.resource_id::uuid), q.create_date);
alter table queued_events alter column update_date set not null;

create or replace function queue_events() returns trigger language plpgsql as $$
begin
  insert into queued_events (entity_id, id, type, resource_id, update_date, create_date)
  select e.entity_id, e.id, e.type, e.resource_id, coalesce(r.update_date, e.create_date), e.create_date
  from added e left join lateral (select t.update_date from told_resources t
    where t.kind = split_part(e.type, '.', 1) and t.entity_id = e.entity_id and t.id = e.resource_id::uuid) r on true
  where split_part(e.type, '.', 1) in ('paymentIntent', 'payment', 'payout', 'transfer', 'addressBookRecipient')
    and exists (select 1 from notification_subscription_details d
      where d.entity_id = e.entity_id and d.status = 'confirmed')
  order by e.id;
  if found then
    perform pg_notify('queued_events', '');
  end if;
  return null;
end $$;
