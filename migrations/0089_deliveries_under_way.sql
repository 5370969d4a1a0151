-- Finds the deliveries whose transactions may have failed, which is asked whenever work is announced for their chain.
create index messages_under_delivery on messages (destination_domain)
  where forward_id is not null and forward_failure is null and received_tx_hash is null;
