-- The height of the block that shows a delivery, which is complete when that is final. Null where it was shown before.
alter table messages add column received_block_number bigint;
