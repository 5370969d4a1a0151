-- The address book: whom a business account pays out to.

create table recipients (
  entity_id uuid not null,
  id uuid not null,
  -- The chain code of the business-account API, and the address as the chain's family keeps it.
  chain text not null,
  address text not null,
  address_tag text,
  nickname text,
  email text,
  bns text,
  status text not null check (status in ('pending', 'inactive', 'active', 'denied', 'failed')),
  -- Until when nothing may be paid to it although it passed its review; null where nothing is held back.
  hold_until timestamptz(3),
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  -- Kept, because payouts name their recipient for good.
  deleted_date timestamptz(3),
  primary key (entity_id, id)
);
create index recipients_page on recipients (entity_id, create_date, id);
create index recipients_by_address on recipients (entity_id, address, create_date, id);
create index recipients_by_email on recipients (entity_id, email, create_date, id) where email is not null;
create index recipients_by_chain on recipients (entity_id, chain, create_date, id);
create index recipients_by_status on recipients (entity_id, status, create_date, id);
create index recipients_to_review on recipients (update_date) where status = 'pending' and deleted_date is null;
create index recipients_on_hold on recipients (hold_until) where status = 'inactive' and deleted_date is null;
