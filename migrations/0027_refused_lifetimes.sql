-- Refused bytes that expire are proven dead, too, before their nonce is used by others.

drop index attempts_expiring;
create index attempts_expiring on attempts (blockchain, expires_ms)
  where expires_ms is not null and death_proof is null and state in ('signed', 'sent', 'rejected');
