-- An API key may end, and be bound to addresses, and shows when and from where it was used last.
alter table api_keys
  add column expire_date timestamptz(3),
  -- Addresses and networks from which it may be used; null for all.
  add column allowed_addresses text[],
  -- Less than two minutes before the newest use.
  add column used_date timestamptz(3),
  add column used_address text,
  add constraint api_keys_expires_later check (expire_date > create_date),
  add constraint api_keys_few_addresses check (cardinality(allowed_addresses) between 1 and 32);
