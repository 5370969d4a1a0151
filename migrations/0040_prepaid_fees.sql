-- Quotes of fees that burns pay beforehand are signed by a key of their own.
alter table attestation_keys drop constraint attestation_keys_purpose_check;
alter table attestation_keys add constraint attestation_keys_purpose_check check (purpose in ('message', 'balance', 'quote'));

-- The contract that burned took the fees; the executor of the destination delivers, and uses what is minted.
alter table messages add column prepaid boolean not null default false;
alter table messages add column executes boolean not null default false;
