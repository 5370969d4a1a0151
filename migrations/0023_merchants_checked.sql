-- What merchants own by the books, and the coins that stand behind it.
create view wallet_accounts as
  select entity_id, currency, address as wallet_id, posted, held from accounts where kind = 'wallet';
create view coin_accounts as
  select a.entity_id, a.blockchain, a.address, t.currency, a.posted
  from accounts a join tokens t on t.id = a.token_id where a.kind = 'address' and t.currency is not null;
create view platform_addresses as
  select entity_id, blockchain, address from managed_addresses where purpose in ('deposit', 'treasury');
