-- Upgrades of smart accounts from earlier versions.

-- The version that the account is created with, from which its address follows; an upgrade changes `sca_core` alone.
alter table wallets add column first_core text;
update wallets set first_core = sca_core where sca_core is not null;
alter table wallets add constraint wallets_first_core check ((sca_core is null) = (first_core is null));

-- The version that the transaction upgrades its smart account to.
alter table transactions add column new_core text;
create index transactions_upgrades on transactions (entity_id, wallet_id) where new_core is not null;
