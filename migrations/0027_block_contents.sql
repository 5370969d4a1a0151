-- A hash of the contents of each block, in 32 bytes. The hash of a block is agreed on by several endpoints before it counts as
-- final, while its transactions and receipts were read from one: they are compared by this before anything is concluded
-- that cannot be undone. Unset: of a local chain, or of a block that was applied before this was kept.

alter table blocks add column content_hash text;
