-- The request that showed a ciphertext: its idempotency key, operation and contents. That request alone may show it again, as
-- clients do after a 503. Null for operations without a key.
alter table spent_ciphertexts add column request bytea check (octet_length(request) = 32);
