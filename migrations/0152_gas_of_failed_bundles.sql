-- The gas that failed bundles burnt, by the operations that were in them: the sponsor paid for it, and nobody paid it back.
alter table sponsorships
  add column failed_gas numeric(78, 0) not null default 0 check (failed_gas >= 0),
  -- When the last of them was followed; null without one.
  add column failed_date timestamptz(3);
alter table sponsorships add constraint sponsorships_failed check ((failed_gas = 0) = (failed_date is null));
create index sponsorships_by_failure on sponsorships (entity_id, blockchain, failed_date) where failed_date is not null;
