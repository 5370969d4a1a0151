-- The coins that the treasury has followed are for gas; a fee that is held is held on them, too.
select posted = 6000000000000000000 and held = 2000000000000000000 and blockchain = 'ARC-TESTNET' and address = '0x01'
  from accounts where kind = 'unclaimed';
select posted = -6000000000000000000 and held = 0 from accounts where kind = 'settlement';
-- Only where a stablecoin pays for gas.
select count(*) = 2 from accounts where kind in ('unclaimed', 'settlement');
select currency is not distinct from case blockchain when 'ARC-TESTNET' then 'USD' end from tokens;
