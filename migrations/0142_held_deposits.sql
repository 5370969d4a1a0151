-- Deposits of unified balances that a listed account made for another one: they count when it is listed no more.

alter table unified_movements
  -- The account whose coins a deposit took, where it is not the depositor.
  add column sender text,
  -- When screening last kept the deposit from being counted.
  add column held_date timestamptz(3);

create index unified_movements_held on unified_movements (blockchain, held_date) where counted is null and held_date is not null;
