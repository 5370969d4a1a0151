-- A frozen wallet and one that is not.
insert into entities (id, environment, name, app_id, create_date)
values ('00000000-0000-4000-8000-000000000001', 'TEST', 'shop', '00000000-0000-4000-8000-000000000002', '2026-01-01');
insert into wallet_sets (entity_id, id, custody_type, sealed_entropy, create_date, update_date)
values ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000003', 'DEVELOPER', '\x00', '2026-01-01', '2026-01-01');
insert into keys (entity_id, id, class, wallet_set_id, family, derivation_index, address, sealed_private_key, create_date)
values ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000004', 'wallet',
  '00000000-0000-4000-8000-000000000003', 'evm', 0, '0x0000000000000000000000000000000000000001', '\x00', '2026-01-01');
insert into wallets (entity_id, id, wallet_set_id, key_id, blockchain, address, derivation_index, account_type, custody_type, state,
  batch_id, create_date, update_date)
select '00000000-0000-4000-8000-000000000001', id, '00000000-0000-4000-8000-000000000003',
  '00000000-0000-4000-8000-000000000004', blockchain, '0x0000000000000000000000000000000000000001', 0, 'EOA', 'DEVELOPER', state,
  '00000000-0000-4000-8000-000000000005', '2026-01-01', '2026-02-03'
from (values ('00000000-0000-4000-8000-000000000006'::uuid, 'BASE-SEPOLIA', 'FROZEN'),
  ('00000000-0000-4000-8000-000000000007'::uuid, 'ETH-SEPOLIA', 'LIVE')) w (id, blockchain, state);
