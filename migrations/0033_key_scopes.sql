-- Scopes of API keys: the customer's interface, or the operator's. Existing keys keep the customer's.

alter table api_keys add column scopes text[] not null default '{api}'
  check (scopes <@ array['api', 'operator:read', 'operator:write'] and cardinality(scopes) > 0);
