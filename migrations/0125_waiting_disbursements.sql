-- Why a disbursement waits, as the worker that looked at it last found: kept when it fails for lack of coins.
alter table payouts add column waiting jsonb;
alter table transfers add column waiting jsonb;
alter table payments add column waiting jsonb;

-- A policy that was taken back stays recorded, so that a sandbox, which allows rebalancing at first, does not allow it again.
alter table rebalancing_policies add column allowed boolean not null default true;
