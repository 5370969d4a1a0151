-- What an API key may be used for: the customer's interface, or the operator's. Keys that exist go on as they were.

alter table api_keys add column scopes text[] not null default '{api}'
  check (scopes <@ array['api', 'operator:read', 'operator:write'] and cardinality(scopes) > 0);
