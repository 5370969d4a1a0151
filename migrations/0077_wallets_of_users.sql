-- The users whose wallets and transactions these are; absent where the developer's keys act.

alter table wallets add column user_id text,
  add constraint wallets_user_check check ((custody_type = 'ENDUSER') = (user_id is not null)),
  add constraint wallets_user_fkey foreign key (entity_id, user_id) references users (entity_id, user_id);
create index wallets_by_user on wallets (entity_id, user_id, create_date, id) where user_id is not null;

alter table transactions add column user_id text;
create index transactions_by_user on transactions (entity_id, user_id, create_date, id) where user_id is not null;

-- Whose keys a wallet has, for other owners of tables.
create view wallet_custody as select entity_id, id as wallet_id, custody_type, user_id from wallets;
grant select on wallet_custody to bezant_runtime;
