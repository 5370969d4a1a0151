-- Wallets on chains whose accounts are not named by their key show the public key, from which others make accounts and
-- transactions. The keys of EVM, whose addresses suffice, have none here.

alter table keys add column public_key text;
