import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { post, walletEntries } from '../index.ts'
import { closeThrough } from './store/closed-days.ts'
import { dayAfter, exportedAccounts, statementLines } from './store/journal.ts'

const dayMs = 86_400_000
const walletId = '1000000000000001'
const perDay = 2_500

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

it('a statement costs as much for each line however long it is, and has late lines first in their day', async () => {
  const entityId = randomUUID()
  const from = '2026-03-01'
  const to = dayAfter(from)
  const startMs = Date.parse(from)
  const book = (atMs: number, count: number) =>
    test.database.tx((tx) =>
      post(
        tx,
        atMs,
        Array.from({ length: count }, () => ({
          entityId,
          blockchain: '',
          blockHash: '',
          fact: `deposit:${randomUUID()}`,
          entries: walletEntries(walletId, 'USD', 1n),
        })),
      ),
    )
  await closeThrough(test.database, from)
  // Of the second day, with times of the first.
  await book(startMs, 700)
  for (const at of [dayMs, dayMs + 1, dayMs + 3_600_000]) await book(startMs + at, perDay)
  const range = { entityId, from, to }
  const read = await test.database.tx(async (tx) => {
    const [account] = await all(exportedAccounts(tx, range, { kinds: ['wallet'] }))
    const lines = await all(statementLines(tx, range, account!.id))
    const { rows } = await tx.one<{ rows: number }>(sql`select sum(seq_tup_read + idx_tup_fetch)::int as rows
      from pg_stat_xact_user_tables where relname = 'entries'`)
    return { lines, rows }
  })
  const { lines, rows } = read
  expect(lines).toHaveLength(700 + 3 * perDay)
  expect(new Set(lines.map(({ postingId }) => postingId)).size).toBe(lines.length)
  expect(lines.every(({ day }) => day === to)).toBe(true)
  const ids = lines.map(({ postingId }) => postingId)
  expect(ids).toEqual([...ids].sort())
  expect(lines.slice(0, 700).every(({ createDate }) => createDate.startsWith(from))).toBe(true)
  // The line itself, and those of its posting.
  expect(rows).toBeLessThan(5 * lines.length)
})
