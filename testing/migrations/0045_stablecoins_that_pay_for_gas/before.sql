-- A treasury with seven dollars for gas, of which one arrived in a block that it has not followed; two are held for a fee.
insert into entities (id, environment, name, app_id, create_date)
values ('00000000-0000-4000-8000-000000000001', 'TEST', 'shop', '00000000-0000-4000-8000-000000000002', '2026-01-01');
insert into tokens (id, blockchain, name, symbol, decimals, is_native, create_date)
values ('00000000-0000-4000-8000-000000000003', 'ARC-TESTNET', 'USDC', 'USDC', 18, true, '2026-01-01'),
  ('00000000-0000-4000-8000-000000000004', 'BASE-SEPOLIA', 'Ether', 'ETH', 18, true, '2026-01-01');
insert into keys (entity_id, id, class, family, derivation_index, address, sealed_private_key, create_date)
values ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000005', 'platform', 'evm', 0, '0x01', '\x00', '2026-01-01');
insert into managed_addresses (entity_id, blockchain, address, key_id, purpose, owner_id, create_date)
select '00000000-0000-4000-8000-000000000001', blockchain, '0x01', '00000000-0000-4000-8000-000000000005', 'treasury',
  '00000000-0000-4000-8000-000000000006', '2026-01-01'
from (values ('ARC-TESTNET'), ('BASE-SEPOLIA')) b (blockchain);
-- Another treasury has had no coins yet.
insert into keys (entity_id, id, class, family, derivation_index, address, sealed_private_key, create_date)
values ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000007', 'platform', 'evm', 1, '0x07', '\x00', '2026-01-01');
insert into managed_addresses (entity_id, blockchain, address, key_id, purpose, owner_id, create_date)
values ('00000000-0000-4000-8000-000000000001', 'ARC-TESTNET', '0x07', '00000000-0000-4000-8000-000000000007', 'treasury',
  '00000000-0000-4000-8000-000000000008', '2026-01-01');
insert into accounts (entity_id, id, kind, token_id, blockchain, address, create_date, update_date)
select '00000000-0000-4000-8000-000000000001', id::uuid, kind, token::uuid, blockchain, address, '2026-01-01', '2026-01-01'
from (values
  ('00000000-0000-4000-8000-000000000011', 'address', '00000000-0000-4000-8000-000000000003', 'ARC-TESTNET', '0x01'),
  ('00000000-0000-4000-8000-000000000012', 'outside', '00000000-0000-4000-8000-000000000003', 'ARC-TESTNET', ''),
  ('00000000-0000-4000-8000-000000000013', 'address', '00000000-0000-4000-8000-000000000004', 'BASE-SEPOLIA', '0x01'),
  ('00000000-0000-4000-8000-000000000014', 'outside', '00000000-0000-4000-8000-000000000004', 'BASE-SEPOLIA', '')
) a (id, kind, token, blockchain, address);
insert into postings (entity_id, id, blockchain, block_hash, fact, create_date)
values ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000021', 'ARC-TESTNET', '0xa', 'value:0:in:0x1', '2026-01-01'),
  ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000022', 'BASE-SEPOLIA', '0xc', 'value:0:in:0x1', '2026-01-01');
insert into entries (entity_id, posting_id, account_id, amount, create_date)
select '00000000-0000-4000-8000-000000000001', posting::uuid, account::uuid, amount, '2026-01-01'
from (values
  ('00000000-0000-4000-8000-000000000021', '00000000-0000-4000-8000-000000000011', 7000000000000000000),
  ('00000000-0000-4000-8000-000000000021', '00000000-0000-4000-8000-000000000012', -7000000000000000000),
  ('00000000-0000-4000-8000-000000000022', '00000000-0000-4000-8000-000000000013', 5),
  ('00000000-0000-4000-8000-000000000022', '00000000-0000-4000-8000-000000000014', -5)
) e (posting, account, amount);
insert into holds (entity_id, id, account_id, intent_id, purpose, amount, create_date)
values ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000031', '00000000-0000-4000-8000-000000000011',
  '00000000-0000-4000-8000-000000000041', 'fee', 2000000000000000000, '2026-01-01'),
  ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000032', '00000000-0000-4000-8000-000000000011',
  '00000000-0000-4000-8000-000000000042', 'fee', 3000000000000000000, '2026-01-01');
insert into hold_resolutions (entity_id, hold_id, outcome, create_date)
values ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000032', 'voided', '2026-01-01');
insert into block_steps (blockchain, step, kind, block_hash, block_number, final_from, final_to)
values ('ARC-TESTNET', 1, 'applied', '0xa', 1, 1, 1), ('ARC-TESTNET', 2, 'applied', '0xb', 2, 2, 2);
insert into step_cursors (engine, blockchain, step) values ('treasury', 'ARC-TESTNET', 1);
insert into observed_transfers (entity_id, id, blockchain, block_hash, block_number, tx_hash, kind, position, direction, token_id,
  from_address, to_address, amount, address, purpose, owner_id, block_time)
select '00000000-0000-4000-8000-000000000001', id::uuid, 'ARC-TESTNET', block, number, '0x1', 'value', 0, 'in',
  '00000000-0000-4000-8000-000000000003', '0x02', '0x01', amount, '0x01', 'treasury', '00000000-0000-4000-8000-000000000006', '2026-01-01'
from (values ('00000000-0000-4000-8000-000000000051', '0xa', 1, 6000000000000000000),
  ('00000000-0000-4000-8000-000000000052', '0xb', 2, 1000000000000000000)) o (id, block, number, amount);
