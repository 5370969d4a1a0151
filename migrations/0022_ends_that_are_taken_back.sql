-- Whether the block that ended a transaction is still on the chain: what is built on one that is not, is taken back.
create view canonical_blocks as select blockchain, hash, number from blocks where canonical;

create or replace view platform_transactions as
  select entity_id, id, state, tx_hash, block_number, error_reason, error_details, blockchain, block_hash from transactions
  where transaction_type = 'OUTBOUND' and wallet_id is null;
