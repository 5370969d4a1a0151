-- Webhooks tell how payments by x402 stand. Their transactions are the platform's, so snapshots are of all transactions.
create or replace view notified_transactions as
  select entity_id, id, update_date, jsonb_build_object(
      'state', state, 'amounts', amounts, 'sourceAddress', source_address, 'txHash', tx_hash, 'blockHash', block_hash,
      'blockHeight', block_number, 'networkFee', network_fee::text, 'estimatedFee', estimated_fee,
      'firstConfirmDate', to_char(first_confirm_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'contractAddress', contract_address, 'errorReason', error_reason, 'errorDetails', error_details) as snapshot
  from transactions;

-- Payments that never had a transaction.
create view notified_x402_payments as
  select entity_id, id, create_date as update_date, null::jsonb as snapshot from x402_payments;
insert into notified_kinds (kind, line, view) values ('x402Payment', 'v2', 'notified_x402_payments');
