-- Anybody can make a wallet receive transfers that no balance proves. They are in indexes of their own, so that lists without
-- them do not read past them, and each row is in as many indexes as before or fewer.

drop index transactions_page;
create index transactions_page on transactions (entity_id, create_date, id) where wallet_id is not null and not unproven;
create index transactions_unproven_page on transactions (entity_id, create_date, id) where wallet_id is not null and unproven;
drop index transactions_by_wallet;
create index transactions_by_wallet on transactions (entity_id, wallet_id, create_date, id)
  where wallet_id is not null and not unproven;
create index transactions_unproven_by_wallet on transactions (entity_id, wallet_id, create_date, id)
  where wallet_id is not null and unproven;
drop index transactions_by_blockchain;
create index transactions_by_blockchain on transactions (entity_id, blockchain, create_date, id)
  where wallet_id is not null and not unproven;
drop index transactions_by_destination;
create index transactions_by_destination on transactions (entity_id, destination_address, create_date, id)
  where wallet_id is not null and not unproven;
