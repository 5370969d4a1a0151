-- The business account has one deposit address for each chain, and a wire is one deposit: it is minted to the treasury and
-- credited as what it is, no longer as a transfer to a deposit address that was made for it.

-- Second addresses of a chain, for another currency, were given out before: what comes there is still credited.
alter table deposit_addresses add column superseded boolean not null default false;
update deposit_addresses d set superseded = true
  where d.payment_intent_id is null and exists (select 1 from deposit_addresses o
    where o.entity_id = d.entity_id and o.chain = d.chain and o.payment_intent_id is null
      and (o.create_date, o.id) < (d.create_date, d.id));
drop index deposit_addresses_of_wallet;
create unique index deposit_addresses_of_wallet on deposit_addresses (entity_id, chain)
  where payment_intent_id is null and not superseded;

-- complete: credited to the wallet; transferred: the transfer that brought it was credited, as before this migration.
alter table fiat_deposits drop constraint fiat_deposits_state_check;
alter table fiat_deposits add constraint fiat_deposits_state_check
  check (state in ('waiting', 'minting', 'minted', 'complete', 'transferred', 'failed'));
update fiat_deposits set state = 'transferred' where state = 'minted';
create index fiat_deposits_minted on fiat_deposits (blockchain) where state = 'minted';

-- Transfers to treasuries in canonical blocks.
create index observed_transfers_to_treasuries on observed_transfers (entity_id, blockchain, tx_hash)
  where purpose = 'treasury' and direction = 'in';
create view treasury_arrivals as
  select o.entity_id, o.blockchain, o.tx_hash, o.address, o.block_number, t.currency, o.amount
  from observed_transfers o join tokens t on t.id = o.token_id
  where o.purpose = 'treasury' and o.direction = 'in' and t.currency is not null
    and exists (select 1 from blocks b where b.blockchain = o.blockchain and b.hash = o.block_hash and b.canonical);
