-- Since when a wallet is frozen. Operators list what is frozen, newest first; of the wallets that are not, none is read.
alter table wallets add column frozen_date timestamptz(3);
update wallets set frozen_date = update_date where state = 'FROZEN';
create index wallets_frozen on wallets (entity_id, frozen_date, id) where state = 'FROZEN';
