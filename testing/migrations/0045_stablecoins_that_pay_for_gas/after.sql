-- The coins that the treasury has followed are for gas; a fee that is held is held on them, too.
select posted = 6000000000000000000 and held = 2000000000000000000 and blockchain = 'ARC-TESTNET'
  from accounts where kind = 'unclaimed' and address = '0x01';
select posted = -6000000000000000000 and held = 0 from accounts where kind = 'settlement' and address = '0x01';
-- A treasury without coins is ready for holds before its first ones.
select posted = 0 and held = 0 and blockchain = 'ARC-TESTNET' from accounts where kind = 'unclaimed' and address = '0x07';
-- Only where a stablecoin pays for gas.
select count(*) = 4 and count(*) filter (where blockchain = 'ARC-TESTNET') = 4 from accounts where kind in ('unclaimed', 'settlement');
select currency is not distinct from case blockchain when 'ARC-TESTNET' then 'USD' end from tokens;
