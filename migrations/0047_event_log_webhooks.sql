-- Logs of monitored events are notified as webhooks, once when they are written and once when a reorg removes them.

create or replace view notified_resources as
  select 'paymentIntent' as kind, entity_id, id, update_date, null::jsonb as snapshot from payment_intents
  union all select 'payment', entity_id, id, update_date, null from payments
  union all select 'payout', entity_id, id, update_date, null from payouts
  union all select 'transfer', entity_id, id, update_date, null from transfers
  union all select 'addressBookRecipient', entity_id, id, update_date, null from recipients
  union all select 'addressBookRecipient', entity_id, id, update_date, null from recipient_addresses
  union all select 'transaction', entity_id, id, update_date, jsonb_build_object(
      'state', state, 'amounts', amounts, 'sourceAddress', source_address, 'txHash', tx_hash, 'blockHash', block_hash,
      'blockHeight', block_number, 'networkFee', network_fee::text, 'estimatedFee', estimated_fee,
      'firstConfirmDate', to_char(first_confirm_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'contractAddress', contract_address, 'errorReason', error_reason, 'errorDetails', error_details)
    from transactions where wallet_id is not null
  union all select 'eventLog', entity_id, id, update_date, null from event_logs;

create or replace function notified_kinds(line text) returns text[] language sql immutable as $$
  select case line
    when 'v1' then array['paymentIntent', 'payment', 'payout', 'transfer', 'addressBookRecipient']
    when 'v2' then array['transaction', 'eventLog']
  end
$$;
