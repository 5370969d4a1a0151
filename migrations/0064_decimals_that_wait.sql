-- A token whose decimals no node has told yet: it has no balances, and no request can name it, until they are read.

alter table tokens add column decimals_known boolean not null default true;

-- Few transfers wait for the decimals of their token.
create index transactions_without_amounts on transactions (entity_id, token_id, address)
  where transaction_type = 'INBOUND' and amounts is null;
