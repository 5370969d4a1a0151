-- A delivery that costs more gas than its fee covers waits, and tells so. A mint records the gas that it needs and the fee that
-- pays for it; those from before have none, and do not wait.
alter table messages add column forward_delay text;
alter table unified_transfers add column forward_gas bigint;
alter table unified_transfers add column forward_fee numeric(78, 0);
alter table unified_transfers add column forward_delay text;
