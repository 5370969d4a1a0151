import { type Database, sql } from '#runtime/db/db'

/** The base of everything inserted here, well in the past, so that no page's default `to` cuts it off. */
export const firstAt = "timestamptz '2026-01-01T00:00:00Z'"
export const token = '00000000-0000-4000-8000-0000000000e0'

export const walletIdOf = (index: number) => `00000000-0000-4000-9000-${String(index).padStart(12, '0')}`

/** Number of wallets that the transactions are spread over. The wallet of this index has the rare ones. */
export const walletCount = 200

/** SQL condition: row `n` of `count` is rare, one in a thousand of all, and all of those among the oldest. */
export const isRare = (count: number): string => `n < ${count / 50} and n % 20 = 1`

/** Values that rare transactions have and no other has. */
export const rareTransaction = {
  blockchain: 'ETH-SEPOLIA',
  custodyType: 'ENDUSER',
  userId: 'rare',
  operation: 'CONTRACT_EXECUTION',
  destination: '0x00000000000000000000000000000000000000ee',
} as const

/**
 * A year of transactions, every eleventh of another entity: one in fifty failed, one in ten is incoming, one in a thousand is rare,
 * some share a millisecond. `count` of them belong to the entity.
 */
export async function insertTransactions(
  database: Database,
  entityId: string,
  count: number,
  onProgress: (done: number) => void,
): Promise<void> {
  await insertToken(database)
  const chunk = 100_000
  for (let from = 0; from < count; from += chunk) {
    const to = Math.min(count, from + chunk)
    await insertTransactionsBetween(database, entityId, from, to, count)
    await insertTransactionsBetween(
      database,
      '00000000-0000-4000-8000-00000000ffff',
      from / 10,
      to / 10,
      count,
    )
    onProgress(to)
  }
  await database.script('vacuum (analyze) transactions')
}

export const insertToken = (database: Database) =>
  database.run(sql`insert into tokens (id, blockchain, name, symbol, decimals, is_native, standard, address, listed, create_date)
    values (${token}, 'BASE-SEPOLIA', 'USDC', 'USDC', 6, false, 'ERC20', '0x01', false, '2026-01-01T00:00:00Z')
    on conflict do nothing`)

const insertTransactionsBetween = (
  database: Database,
  entityId: string,
  from: number,
  to: number,
  count: number,
) =>
  database.script(`insert into transactions (entity_id, id, blockchain, wallet_id, address, transaction_type,
      custody_type, user_id, state, operation, token_id, source_address, destination_address, amounts, amount, fee_level,
      gas_limit, max_fee, priority_fee, estimated_fee, tx_hash, block_hash, block_number, log_index, network_fee,
      first_confirm_date, create_date, update_date)
    select '${entityId}', uuidv7(at - now()), case when rare then '${rareTransaction.blockchain}' else 'BASE-SEPOLIA' end,
      ('00000000-0000-4000-9000-' || lpad(wallet::text, 12, '0'))::uuid, '0x' || left(md5(wallet::text) || md5('w'), 40),
      case when inbound then 'INBOUND' else 'OUTBOUND' end,
      case when rare then '${rareTransaction.custodyType}' else 'DEVELOPER' end, case when rare then '${rareTransaction.userId}' end,
      case when n % 50 = 0 then 'FAILED' else 'COMPLETE' end,
      case when rare then '${rareTransaction.operation}' else 'TRANSFER' end, '${token}',
      '0x' || left(md5(n::text) || md5('s'), 40),
      case when rare then '${rareTransaction.destination}' else '0x' || left(md5(n::text) || md5('d'), 40) end,
      array[(n % 1000)::text || '.25'], (n % 1000) * 1000000 + 250000, case when inbound then null else 'MEDIUM' end,
      65000, 3000000000, 1000000000,
      case when inbound then null else
        '{"gasLimit": "65000", "baseFee": "1000000000", "maxFee": "3000000000", "priorityFee": "1000000000"}'::jsonb end,
      '0x' || md5(n::text) || md5('t' || n), '0x' || md5((n / 20)::text) || md5('b'), n / 20, n % 20, 98765432101234,
      at, at, at
    from generate_series(${Math.floor(from)}, ${Math.floor(to) - 1}) as n,
      lateral (select n % 10 = 0 as inbound, ${isRare(count)} as rare,
        case when ${isRare(count)} then ${walletCount} else n * 7 % ${walletCount} end as wallet,
        ${firstAt} + (n / 3 * 60) * interval '1 millisecond' as at) as more`)

/** Wallets of one set on one chain, each with its key. */
export async function insertWallets(database: Database, entityId: string, count: number): Promise<void> {
  const set = '00000000-0000-4000-8000-00000000005e'
  const at = `${firstAt} + n * interval '1 second'`
  const address = "'0x' || left(md5(n::text) || md5('w'), 40)"
  const id = "('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid"
  await database.script(`
    insert into wallet_sets (entity_id, id, name, custody_type, sealed_entropy, wallet_count, create_date, update_date)
      values ('${entityId}', '${set}', 'Bench', 'DEVELOPER', '', ${count}, ${firstAt}, ${firstAt});
    insert into keys (entity_id, id, class, wallet_set_id, family, derivation_index, address, sealed_private_key, create_date)
      select '${entityId}', ${id}, 'wallet', '${set}', 'evm', n, ${address}, '', ${at} from generate_series(1, ${count}) n;
    insert into wallets (entity_id, id, wallet_set_id, key_id, blockchain, address, derivation_index, account_type,
        custody_type, state, name, ref_id, batch_id, create_date, update_date)
      select '${entityId}', ${id}, '${set}', ${id}, 'BASE-SEPOLIA', ${address}, n, 'EOA', 'DEVELOPER', 'LIVE',
        'Wallet ' || n, 'customer-' || n, '${set}', ${at}, ${at} from generate_series(1, ${count}) n`)
  await database.script('vacuum (analyze) wallets')
}

/** Paid payments, one for each deposit address. */
export async function insertPayments(database: Database, entityId: string, count: number): Promise<void> {
  const at = `${firstAt} + n * interval '1 second'`
  await insertToken(database)
  await database.script(`
    insert into payments (entity_id, id, type, status, payment_intent_id, merchant_wallet_id, currency, decimals, amount,
        chain, blockchain, from_address, deposit_address, token_id, transaction_hash, ordinal, block_hash, block_number,
        create_date, update_date)
      select '${entityId}', gen_random_uuid(), 'payment', 'paid', null, '1000000001', 'USD', 6, n * 1000000, 'BASE',
        'BASE-SEPOLIA', '0x' || left(md5(n::text) || md5('f'), 40), '0x' || left(md5(n::text) || md5('d'), 40), '${token}',
        '0x' || md5(n::text) || md5('t' || n), 0, '0x' || md5(n::text) || md5('b'), n, ${at}, ${at}
      from generate_series(1, ${count}) n`)
  await database.script('vacuum (analyze) payments')
}

/**
 * Deposit addresses `from` to `to`, each of a payment intent copied from the entity's existing one. They share its key,
 * because the bench never signs with it.
 */
export async function insertWatchedAddresses(
  database: Database,
  entityId: string,
  from: number,
  to: number,
): Promise<void> {
  const intentId = "('00000000-0000-4000-a000-' || lpad(n::text, 12, '0'))::uuid"
  const addressId = "('00000000-0000-4000-b000-' || lpad(n::text, 12, '0'))::uuid"
  const address = "'0x' || md5(n::text) || 'de905175'"
  await database.script(`
    create temporary table pattern as select i.*, m.key_id from payment_intents i join managed_addresses m
      on m.entity_id = i.entity_id and m.address = i.deposit_address where i.entity_id = '${entityId}' order by i.id desc limit 1;
    insert into payment_intents (entity_id, id, type, currency, settlement_currency, chain, blockchain, merchant_wallet_id,
        decimals, timeline, status, deposit_address, create_date, update_date)
      select entity_id, ${intentId}, type, currency, settlement_currency, chain, blockchain, merchant_wallet_id,
        decimals, timeline, status, ${address}, create_date, update_date
      from pattern, generate_series(${from}, ${to - 1}) n;
    insert into deposit_addresses (entity_id, id, blockchain, chain, currency, address, payment_intent_id, create_date)
      select entity_id, ${addressId}, blockchain, chain, currency, ${address}, ${intentId}, create_date
      from pattern, generate_series(${from}, ${to - 1}) n;
    insert into managed_addresses (entity_id, blockchain, address, key_id, purpose, owner_id, create_date)
      select entity_id, blockchain, ${address}, key_id, 'deposit', ${addressId}, create_date
      from pattern, generate_series(${from}, ${to - 1}) n;
    drop table pattern`)
  for (const table of ['payment_intents', 'deposit_addresses', 'managed_addresses'])
    await database.script(`vacuum (analyze) ${table}`)
}
