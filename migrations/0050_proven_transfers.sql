-- A transfer of an unlisted token is a claim of its contract: it is shown by default once the balance has risen by its amount.
-- Transfers of nothing are recorded as well, and never shown by default.

alter table observed_token_transfers
  -- Whether the balance rose by the amount; null until the balance was compared after the transfer.
  add column covered boolean default true;
alter table observed_token_transfers alter column covered drop default;
create index observed_token_transfers_undecided on observed_token_transfers (entity_id, address, token_address)
  where covered is null and direction = 'in';

alter table transactions
  -- An incoming transfer of nothing, or one that no balance shows yet.
  add column unproven boolean not null default false;
