-- The fee that the attestation of a message takes for its delivery, in base units; null where there is none. A message is delivered by this
-- server only where it pays for that.
alter table messages add column forward_fee numeric(78, 0) check (forward_fee > 0);
update messages set forward_fee = 200000 where forwards and state = 'complete' and max_fee >= 200000 and amount > 200000;
drop index messages_to_forward;
create index messages_to_forward on messages (destination_domain, create_date, id)
  where forward_fee is not null and forward_id is null and received_tx_hash is null;
