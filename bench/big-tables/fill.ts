import { type Database, raw, sql } from '#runtime/db/db'
import { firstAt, insertToken, insertTransactions, isRare, token } from '../rows.ts'
import type { Run } from '../run.ts'

/** The account that an entry of every posting belongs to, and that of the few rare ones. */
export const sharedAccount = '00000000-0000-4000-c000-000000000000'
export const rareAccount = '00000000-0000-4000-c000-000000000001'
/** The ids that rare rows of all tables refer to, where a usual row refers to one of its own or to `usualId`. */
export const rareId = '00000000-0000-4000-d000-000000000001'
const usualId = '00000000-0000-4000-d000-000000000000'
export const rareAddress = '0x00000000000000000000000000000000000000ee'

/** The seconds that an index of a table took to be built, over all rows at once. */
export type IndexBuild = { table: string; index: string; rows: number; seconds: number }

const chunk = 500_000

/**
 * Tables that grow with the traffic of a tenant: how many rows each has beside `count` transactions, and the columns and values of
 * row `n` of `total`. In them `$rare` is true of one row in a thousand, all of which are among the oldest, and `$at` is its date.
 */
type Filling = { table: string; share: number; columns: string; values: string }

const hash = (salt: string) => `'0x' || md5('${salt}' || n) || md5(n || '${salt}')`
const address = (salt: string) => `'0x' || left(md5('${salt}' || n) || md5('a'), 40)`
const usually = (rare: string, usual: string) => `case when $rare then ${rare} else ${usual} end`
const dates = `create_date, update_date`

const fillings: readonly Filling[] = [
  {
    table: 'events',
    share: 1,
    columns: 'id, type, resource_id, data, create_date',
    values: `uuidv7($at - now()), ${usually(
      `'payout.failed'`,
      `case n % 3 when 0 then 'transaction.created'
      when 1 then 'transaction.sent' else 'transaction.confirmed' end`,
    )}, md5('r' || n / 3)::uuid,
      '{"state": "CONFIRMED", "blockchain": "BASE-SEPOLIA", "txHash": "0x00"}', $at`,
  },
  {
    table: 'postings',
    share: 0.5,
    columns: 'id, blockchain, block_hash, fact, create_date',
    values: `uuidv7($at - now()), 'BASE-SEPOLIA', '0x' || md5('b' || n / 20) || md5(n / 20 || 'b'),
      'log:' || n % 20 || ':in:' || ${hash('t')}, $at`,
  },
  {
    table: 'notifications',
    share: 0.1,
    columns: 'id, topic, resource_id, message, create_date',
    values: `uuidv7($at - now()), ${usually(`'payouts'`, `'transactions.outbound'`)}, md5('r' || n)::uuid,
      repeat(md5(n::text), 20), $at`,
  },
  {
    table: 'requests',
    share: 0.1,
    columns: `id, request_id, api_key_id, method, route, path, status, idempotency_key, resource_id, replayed, duration_ms,
      create_date`,
    values: `uuidv7($at - now()), md5('q' || n)::uuid, ${usually(`'${rareId}'`, `'${usualId}'`)}::uuid,
      ${usually(`'DELETE'`, `'POST'`)}, ${usually(`'/rare'`, `'/v1/w3s/developer/transactions/transfer'`)},
      '/v1/w3s/developer/transactions/transfer', ${usually('503', '201')}, md5('k' || n)::uuid, md5('r' || n)::uuid, false,
      12, $at`,
  },
  {
    table: 'payments',
    share: 0.1,
    columns: `id, type, status, merchant_wallet_id, currency, decimals, amount, chain, blockchain, from_address, deposit_address,
      token_id, transaction_hash, ordinal, block_hash, block_number, ${dates}`,
    values: `uuidv7($at - now()), 'payment', ${usually(`'failed'`, `'paid'`)}, '1000000001', 'USD', 6, 1000000, 'BASE',
      'BASE-SEPOLIA', ${address('f')}, ${address('d')}, '${token}', ${hash('t')}, 0, ${hash('b')}, n, $at, $at`,
  },
  {
    table: 'payouts',
    share: 0.1,
    columns: `id, status, wallet_id, recipient_id, chain, blockchain, to_address, currency, token_id, amount, transaction_hash,
      ${dates}`,
    values: `uuidv7($at - now()), ${usually(`'failed'`, `'complete'`)}, ${usually(`'1000000002'`, `'1000000001'`)},
      ${usually(`'${rareId}'`, `md5('p' || n % 1000)`)}::uuid, ${usually(`'ETH'`, `'BASE'`)},
      ${usually(`'ETH-SEPOLIA'`, `'BASE-SEPOLIA'`)}, ${address('f')}, ${usually(`'EUR'`, `'USD'`)}, '${token}', 1000000,
      ${hash('t')}, $at, $at`,
  },
  {
    table: 'transfers',
    share: 0.1,
    columns: `id, direction, status, wallet_id, chain, blockchain, from_address, to_address, currency, token_id, decimals, amount,
      transaction_hash, ordinal, block_hash, block_number, ${dates}`,
    values: `uuidv7($at - now()), ${usually(`'in'`, `'out'`)}, 'complete', '1000000001', 'BASE', 'BASE-SEPOLIA', ${address('f')},
      ${address('d')}, 'USD', '${token}', 6, 1000000, ${hash('t')}, 0, ${hash('b')}, n, $at, $at`,
  },
  {
    table: 'payment_intents',
    share: 0.1,
    columns: `id, type, currency, settlement_currency, chain, blockchain, merchant_wallet_id, decimals, amount, timeline, status,
      context, deposit_address, expires_on, ${dates}`,
    values: `uuidv7($at - now()), 'transient', 'USD', 'USD', 'BASE', 'BASE-SEPOLIA', '1000000001', 6, 1000000,
      '[{"status": "complete", "context": "paid"}]', ${usually(`'expired'`, `'complete'`)}, ${usually(`'underpaid'`, `'paid'`)},
      ${address('d')}, $at, $at, $at`,
  },
  {
    table: 'event_logs',
    share: 0.1,
    columns: `id, monitor_id, blockchain, contract_address, block_hash, block_number, block_time, tx_hash, log_index, topics, data,
      data_bytes, ${dates}`,
    values: `uuidv7($at - now()), ${usually(`'${rareId}'`, `'${usualId}'`)}::uuid, ${usually(`'ETH-SEPOLIA'`, `'BASE-SEPOLIA'`)},
      ${usually(`'${rareAddress}'`, `'0xcc'`)}, '0x' || md5('b' || n / 20) || md5(n / 20 || 'b'), n / 20, $at, ${hash('t')},
      n % 20, array[${hash('s')}, ${hash('u')}, ${hash('v')}], decode(md5(n::text) || md5('d'), 'hex'), 32, $at, $at`,
  },
  {
    table: 'screenings',
    share: 0.1,
    columns: 'id, chain, address, canonical_address, result, actions, reasons, evidence, create_date',
    values: `uuidv7($at - now()), ${usually(`'ETH-SEPOLIA'`, `'BASE-SEPOLIA'`)}, ${address('f')}, ${address('f')},
      ${usually(`'DENIED'`, `'APPROVED'`)}, '{}', '[]', '{}', $at`,
  },
]

/** Rows made of those that another table has already. */
const derived: readonly { table: string; text: string }[] = [
  {
    table: 'audit',
    text: `insert into audit (entity_id, id, actor, action, resource_id, create_date)
      select entity_id, id, case when type = 'payout.failed' then 'member:rare' else 'transactions' end, type, resource_id,
        create_date from events`,
  },
  {
    table: 'entries',
    text: `insert into entries (entity_id, posting_id, account_id, amount, create_date)
      select entity_id, id, '${sharedAccount}', -1000000, create_date from postings
      union all select entity_id, id, case when fact like 'log:1:%' and block_hash < '0x0040' then '${rareAccount}'
        else '00000000-0000-4000-c000-' || lpad((2 + (hashtext(fact) & 127))::text, 12, '0') end::uuid, 1000000, create_date
      from postings`,
  },
  {
    table: 'notification_deliveries',
    text: `insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id, state, attempt_count, due_date,
        create_date, update_date)
      select entity_id, case when topic = 'payouts' then '${rareId}' else '${usualId}' end::uuid, id, resource_id,
        case when topic = 'payouts' then 'failed' else 'delivered' end, 1, create_date, create_date, create_date
      from notifications`,
  },
]

/** The tables that are filled, and that others refer to. */
export const bigTables = [
  'transactions',
  ...fillings.map(({ table }) => table),
  ...derived.map(({ table }) => table),
]

/** Rows that others refer to. */
const parents = (entityId: string) => `
  insert into accounts (entity_id, id, kind, token_id, blockchain, address, posted, create_date, update_date)
    select '${entityId}', ('00000000-0000-4000-c000-' || lpad(n::text, 12, '0'))::uuid,
      case when n = 0 then 'outside' else 'address' end, '${token}', 'BASE-SEPOLIA', case when n = 0 then '' else 'a' || n end, 0,
      ${firstAt}, ${firstAt} from generate_series(0, 129) n;
  insert into notification_subscriptions (entity_id, id, endpoint, base_url, environment, create_date, update_date)
    select '${entityId}', id, 'https://receiver.example', '', 'TEST', ${firstAt}, ${firstAt}
    from unnest(array['${rareId}', '${usualId}']::uuid[]) id;
  insert into event_monitors (entity_id, id, blockchain, contract_address, event_signature, event_signature_hash, event_name,
      create_date, update_date)
    select '${entityId}', id, 'BASE-SEPOLIA', id::text, 'Transfer(address,address,uint256)', 'h', 'Transfer', ${firstAt}, ${firstAt}
    from unnest(array['${rareId}', '${usualId}']::uuid[]) id`

/**
 * Fills the tables of a tenant. The rows obey every constraint; the triggers that queue work for engines do not run. Indexes that
 * serve statements alone are built afterwards, as an upgrade builds a new one; returns how long each took.
 */
export async function fillBigTables(
  run: Run,
  database: Database,
  entityId: string,
  count: number,
): Promise<IndexBuild[]> {
  await insertToken(database)
  await database.script(parents(entityId))
  const builds: IndexBuild[] = []
  const fill = async (table: string, work: () => Promise<void>) =>
    void builds.push(...(await withoutIndexes(database, table, work)).map((each) => ({ table, ...each })))
  const report = (table: string) => (done: number) =>
    run.report(`${done.toLocaleString('en')} rows of ${table} inserted`)
  await fill('transactions', () => insertTransactions(database, entityId, count, report('transactions')))
  for (const filling of fillings)
    await fill(filling.table, () => insertRows(database, entityId, filling, count, report(filling.table)))
  for (const { table, text } of derived)
    await fill(table, async () => {
      await unqueued(database, text)
      run.report(`${table} filled`)
    })
  for (const table of bigTables) await database.script(`vacuum (analyze) ${table}`)
  for (const { table, index, rows, seconds } of builds)
    run.report(`${index} of ${rows.toLocaleString('en')} rows of ${table} built in ${seconds.toFixed(1)} s`)
  return builds
}

async function insertRows(
  database: Database,
  entityId: string,
  { table, share, columns, values }: Filling,
  count: number,
  report: (done: number) => void,
): Promise<void> {
  const total = Math.round(count * share)
  const filled = values
    .replaceAll('$rare', `(${isRare(total)})`)
    // All tables cover the same time.
    .replaceAll('$at', `(${firstAt} + (n / 3 * ${Math.round(60 / share)}) * interval '1 millisecond')`)
  for (let from = 0; from < total; from += chunk) {
    const to = Math.min(total, from + chunk)
    await unqueued(
      database,
      `insert into ${table} (entity_id, ${columns}) select '${entityId}', ${filled} from generate_series(${from}, ${to - 1}) n`,
    )
    report(to)
  }
}

/** Runs a statement without the triggers of its table: they would queue each row for engines, and compare each with its account. */
const unqueued = (database: Database, text: string): Promise<void> =>
  database.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    await tx.run(raw(text))
  })

/** Runs `work` while a table has only the indexes of its constraints, and builds the others afterwards. */
async function withoutIndexes(database: Database, table: string, work: () => Promise<void>) {
  const indexes = await database.all<{
    index: string
    text: string
  }>(sql`select i.indexrelid::regclass::text as index,
      pg_get_indexdef(i.indexrelid) as text from pg_index i
    where i.indrelid = ${table}::regclass and not i.indisprimary
      and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid)`)
  for (const { index } of indexes) await database.script(`drop index ${index}`)
  await work()
  const { rows } = await database.one<{ rows: number }>(sql`select count(*) as rows from ${raw(table)}`)
  const builds: { index: string; rows: number; seconds: number }[] = []
  for (const { index, text } of indexes) {
    const startedMs = performance.now()
    await database.script(text)
    builds.push({ index, rows, seconds: (performance.now() - startedMs) / 1_000 })
  }
  return builds
}
