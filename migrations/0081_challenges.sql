-- What an app asks of a user, until the user approves it with the PIN or the device.

create table challenges (
  entity_id uuid not null,
  id uuid not null,
  -- The id that the app chose.
  user_id text not null,
  type text not null,
  -- The request as JSON, and what the user is shown of it. Neither ever changes, so what is approved is what was shown.
  request text not null,
  summary text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'COMPLETE', 'FAILED')),
  -- The wallets or the transaction that came of it.
  correlation_ids uuid[] not null default '{}',
  error_code integer,
  error_message text,
  expire_date timestamptz(3) not null,
  create_date timestamptz(3) not null,
  update_date timestamptz(3) not null,
  primary key (entity_id, id),
  foreign key (entity_id, user_id) references users (entity_id, user_id),
  check ((status = 'FAILED') = (error_code is not null)),
  check (num_nulls(error_code, error_message) in (0, 2))
);
create index challenges_by_user on challenges (entity_id, user_id, create_date, id);

create function refuse_challenge_change() returns trigger language plpgsql as $$
begin
  raise exception 'challenge % is as it was shown, and ends once', old.id using errcode = 'restrict_violation';
end $$;
create trigger challenges_end_once before update on challenges for each row
  when (old.status <> 'PENDING'
    or (old.user_id, old.type, old.request, old.summary, old.expire_date, old.create_date)
      is distinct from (new.user_id, new.type, new.request, new.summary, new.expire_date, new.create_date))
  execute function refuse_challenge_change();
revoke update, delete on challenges from bezant_runtime;
grant update (status, correlation_ids, error_code, error_message, update_date) on challenges to bezant_runtime;

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
    from modular_transfers
  union all select 'challenge', entity_id, id, update_date, null from challenges;

create or replace function notified_kinds(line text) returns text[] language sql immutable as $$
  select case line
    when 'v1' then array['paymentIntent', 'payment', 'payout', 'transfer', 'addressBookRecipient']
    when 'v2' then array['transaction', 'eventLog', 'userOperation', 'modularTransfer', 'challenge']
  end
$$;
