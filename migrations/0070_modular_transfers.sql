-- The transfers of listed tokens and native coins of modular wallets, each from the side of one wallet.
create table modular_transfers (
  entity_id uuid not null,
  id uuid not null,
  wallet_id uuid not null,
  wallet_address text not null,
  blockchain text not null,
  transfer_type text not null check (transfer_type in ('INBOUND_TRANSFER', 'OUTBOUND_TRANSFER')),
  state text not null check (state in ('CONFIRMED', 'COMPLETE', 'FAILED')),
  token_id uuid not null,
  -- In base units.
  amount numeric(78, 0) not null,
  from_address text not null,
  to_address text not null,
  -- The user operation of the wallet that made it, where one did.
  user_op_hash text,
  tx_hash text not null,
  -- The place among the transfers of its token and wallet in the transaction.
  ordinal integer not null,
  block_hash text not null,
  block_number bigint not null,
  block_time timestamptz(3) not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  unique (entity_id, blockchain, tx_hash, wallet_address, transfer_type, token_id, ordinal),
  foreign key (entity_id, wallet_id) references modular_wallets (entity_id, id)
);
create index modular_transfers_by_date on modular_transfers (entity_id, create_date, id);
create index modular_transfers_by_wallet on modular_transfers (entity_id, wallet_address, create_date, id);
create index modular_transfers_by_block on modular_transfers (blockchain, block_hash);
create index modular_transfers_confirmed on modular_transfers (blockchain, block_number) where state = 'CONFIRMED';

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
  union all select 'eventLog', entity_id, id, update_date, null from event_logs
  union all select 'userOperation', entity_id, id, update_date, jsonb_build_object(
      'state', state, 'txHash', tx_hash, 'blockHash', block_hash, 'blockNumber', block_number,
      'blockTime', to_char(block_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'gasUsed', gas_used::text, 'fee', fee::text, 'errorReason', error_reason, 'errorDetails', error_details)
    from user_operations
  union all select 'modularTransfer', entity_id, id, update_date, jsonb_build_object(
      'state', state, 'blockHash', block_hash, 'blockNumber', block_number,
      'blockTime', to_char(block_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from modular_transfers;

create or replace function notified_kinds(line text) returns text[] language sql immutable as $$
  select case line
    when 'v1' then array['paymentIntent', 'payment', 'payout', 'transfer', 'addressBookRecipient']
    when 'v2' then array['transaction', 'eventLog', 'userOperation', 'modularTransfer']
  end
$$;
