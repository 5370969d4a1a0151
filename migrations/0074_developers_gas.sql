-- The limits of sponsored gas count the operations of developers' wallets too. An open promise counts until it expires; what a
-- block holds counts for a day from then on.

alter table sponsorships drop constraint sponsorships_entity_id_wallet_id_fkey;
alter table sponsorships
  -- The transaction that the operation is of; null of an operation that its owner signed elsewhere.
  add column transaction_id uuid,
  -- When a block that holds the operation was followed.
  add column used_date timestamptz(3);
update sponsorships set used_date = create_date where gas_used is not null;
alter table sponsorships add constraint sponsorships_used check ((gas_used is null) = (used_date is null));
create unique index sponsorships_by_transaction on sponsorships (entity_id, transaction_id) where transaction_id is not null;
create index sponsorships_open on sponsorships (entity_id, blockchain, expire_date) where gas_used is null;
create index sponsorships_by_use on sponsorships (entity_id, blockchain, used_date) where gas_used is not null;
drop index sponsorships_by_date;
