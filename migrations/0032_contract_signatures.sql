-- Burn intents that contracts sign (ERC-1271): the digest that this server signs in their name when it burns. Null where a key signed.
alter table unified_signed_intents add column digest bytea;
alter table unified_signed_intents drop constraint unified_signed_intents_signature_check;
alter table unified_signed_intents add constraint unified_signed_intents_signature_check check (
  case when digest is null then octet_length(signature) = 65
  else octet_length(digest) = 32 and octet_length(signature) <= 4096 end);
