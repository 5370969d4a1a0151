-- Journals keep the rebalancing of a transaction beside it.
create index rebalancings_by_approval on rebalancings (entity_id, approval_id) where approval_id is not null;
create index rebalancings_by_mint on rebalancings (entity_id, mint_id) where mint_id is not null;
