-- PostgreSQL plans the check of a foreign key once per connection. Made while the table is small, when every column seems
-- to tell rows apart, the plan may take any index that begins with `entity_id`, and from then on each check reads all
-- rows of the entity. An index with a condition that such a check does not have is never taken for it.

-- Begins with the address: what addresses own is asked for more than what of one token is where.
alter table accounts drop constraint accounts_entity_id_token_id_kind_address_key;
create unique index accounts_of_token on accounts (entity_id, address, token_id, kind) where token_id is not null;
create or replace view address_accounts as
  select entity_id, id, blockchain, address, token_id, posted from accounts where kind = 'address' and token_id is not null;

-- What has no wallet is the platform's own and in no list, as in transactions_page.
drop index transactions_by_blockchain;
create index transactions_by_blockchain on transactions (entity_id, blockchain, create_date, id) where wallet_id is not null;
drop index transactions_by_destination;
create index transactions_by_destination on transactions (entity_id, destination_address, create_date, id)
  where wallet_id is not null;
drop index transactions_by_wallet;
create index transactions_by_wallet on transactions (entity_id, wallet_id, create_date, id) where wallet_id is not null;
