-- Business time of a sandbox. A production database has no row: its business time is the time of the database.
create table business_clock (
  one boolean primary key default true check (one),
  -- The lead over the time of the database, in milliseconds; negative after time stood still.
  offset_ms bigint not null,
  -- The instant at which time stands still, in milliseconds since the epoch; null while it passes.
  held_ms bigint
);
