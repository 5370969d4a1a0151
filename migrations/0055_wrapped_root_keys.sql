-- Versions of the root key that a service outside of the program wraps: the key of such a version is here, encrypted by that service.
alter table root_keys
  -- The root key, encrypted; null of a version that processes are given, and of a retired one.
  add column wrapped_key bytea check (octet_length(wrapped_key) between 33 and 16384),
  -- The name of the key of the service that encrypted it.
  add column wrapped_by text,
  add check (wrapped_key is null or wrapped_by is not null),
  add check (wrapped_key is null or retired_date is null);
