-- Fees that a treasury pays for the wallets of its entity, on chains whose transactions name the account that pays.

-- The account that pays the fee of what was signed last; null where the sender pays.
alter table transactions add column fee_payer text;
create index transactions_with_fee_payer on transactions (entity_id, blockchain, update_date) where fee_payer is not null;
