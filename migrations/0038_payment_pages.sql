-- Pages on which customers pay an intent. The link of a page is derived from the root key, so it is not stored.
create table payment_pages (
  entity_id uuid not null,
  payment_intent_id uuid not null,
  -- Texts of the merchant, as plain text.
  merchant_name text not null,
  description text,
  return_url text,
  -- The chains on offer, in their order, by the codes of the business-account API: that of the intent first.
  chains text[] not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, payment_intent_id),
  foreign key (entity_id, payment_intent_id) references payment_intents (entity_id, id)
);
create trigger payment_pages_date_later before update of update_date on payment_pages
  for each row when (new.update_date <= old.update_date) execute function date_later();

-- An intent has one address on each chain on offer.
create unique index deposit_addresses_of_intent on deposit_addresses (entity_id, payment_intent_id, chain)
  where payment_intent_id is not null;
