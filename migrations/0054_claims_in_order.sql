-- The rise of a balance proves incoming transfers in their order, some at a time; a reorg of the block of a comparison takes
-- its decisions back.

alter table token_checks
  -- How much of the rise no transfer was proven by yet, where more transfers wait for a decision.
  add column risen numeric(78, 0) not null default 0 check (risen >= 0);

alter table observed_token_transfers
  -- The hash of the block of the comparison that decided the transfer.
  add column decided_in text;
drop index observed_token_transfers_undecided;
create index observed_token_transfers_undecided on observed_token_transfers
  (entity_id, address, token_address, block_number, log_index, position, id)
  where covered is null and direction = 'in' and amount > 0;
create index observed_token_transfers_decided on observed_token_transfers (blockchain, decided_in)
  where decided_in is not null;
