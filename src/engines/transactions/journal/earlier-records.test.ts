/**
 * Records as the version wrote them that first had all of their kinds, and as versions before it wrote them: without the columns
 * that have defaults. A column that is added without a default has to get a value in `row_of_copy`, or these records fail.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { raw, sql } from '#runtime/db/db'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { type Harness, openHarness } from '#testing/platform/harness'
import { runCommand } from '#testing/processes/command'
import { createJournal } from './directory.ts'
import { openJournal } from './journal.ts'

type Row = Record<string, unknown>

/** A record of which the rows are parsed. */
type ParsedRecord = {
  entityId: string
  transactionId: string
  attemptId: string
  blockchain: string
  address: string
  nonce: number
  kind: string
  replacesId: string | null
  txHash: string
  attempt: Row
  transaction: Row
  payloads: Row[]
  accepted: { bindings: Row[]; spending: Row[]; holds: Row[]; resources: { kind: string; row: Row }[] }
}

/** The table of each kind of resource. */
const tables: Record<string, string> = {
  payout: 'payouts',
  transfer: 'transfers',
  refund: 'payments',
  paymentIntent: 'payment_intents',
  recipient: 'recipients',
  sweep: 'sweeps',
  rebalancing: 'rebalancings',
}

let harness: Harness
let home: string
let records: ParsedRecord[]
let isDefaulted: (table: string, column: string) => boolean

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  await harness.stopEngines()
  home = await mkdtemp(join(tmpdir(), 'bezant-earlier-'))
  records = JSON.parse(await readFile(new URL('earlier-records.json', import.meta.url), 'utf8'))
  const columns = await harness.database.all<{ table: string; column: string }>(
    sql`select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
      where a.atthasdef and c.relnamespace = 'public'::regnamespace`,
  )
  const defaulted = new Set(columns.map(({ table, column }) => `${table}.${column}`))
  isDefaulted = (table, column) => defaulted.has(`${table}.${column}`)
})
afterAll(async () => {
  await harness?.close()
  await rm(home, { recursive: true, force: true })
})

const before = (table: string, row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !isDefaulted(table, column)))

const texts = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row))

const recordOfBefore = ({ accepted, attempt, transaction, payloads, ...rest }: ParsedRecord) => ({
  ...rest,
  attempt: JSON.stringify(before('attempts', attempt)),
  transaction: JSON.stringify(before('transactions', transaction)),
  payloads: JSON.stringify(payloads),
  accepted: JSON.stringify({
    bindings: texts(accepted.bindings.map((row) => before('idempotency_keys', row))),
    spending: texts(accepted.spending.map((row) => before('policy_spending', row))),
    holds: texts(accepted.holds),
    resources: texts(
      accepted.resources.map(({ row, ...copy }) => ({ ...copy, row: before(tables[copy.kind]!, row) })),
    ),
  }),
})

it('property 164: records of earlier versions are merged, of every kind', async () => {
  const kinds = new Set(records.flatMap(({ accepted }) => accepted.resources.map(({ kind }) => kind)))
  expect([...kinds].sort()).toEqual(Object.keys(tables).sort())
  const journal = await openJournal(await createJournal(join(home, randomBytes(4).toString('hex'))))
  await journal.append(records.map(recordOfBefore))
  await journal.close()
  const merged = await runCommand({
    command: 'journal',
    args: ['merge', journal.path, '--json'],
    env: { DATABASE_URL: urlOf(harness.connection), BEZANT_ROOT_KEY: testRootKey.toString('hex') },
  })
  expect(merged.code, merged.stderr).toBe(0)
  expect(JSON.parse(merged.stdout)).toMatchObject({ added: records.length })
  const { database } = harness
  for (const { transactionId, accepted } of records) {
    const row = sql`select 1 from transactions where id = ${transactionId} and state = 'QUEUED'`
    expect(await database.all(row)).toHaveLength(1)
    for (const { resource_id: id } of accepted.bindings)
      expect(
        await database.all(sql`select 1 from idempotency_keys where resource_id = ${id as string}`),
      ).toHaveLength(1)
    const spent = sql`select 1 from policy_spending where intent_id = ${transactionId}`
    expect(await database.all(spent)).toHaveLength(accepted.spending.length)
    for (const { kind, row } of accepted.resources) {
      const kept = await database.all(
        sql`select 1 from ${raw(tables[kind]!)} where id = ${row['id'] as string}`,
      )
      expect([kind, kept.length]).toEqual([kind, 1])
    }
  }
})
