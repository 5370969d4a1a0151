import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { sizeOf } from '#testing/runner/size'
import { pendingWork } from './store/disbursements.ts'

const restingTotal = sizeOf('RESTING_ORDERS', { usual: 10_000, deep: 100_000 })
const blockchain = 'BASE-SEPOLIA'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

it('property 64: finding due disbursements reads no deferred ones', async () => {
  const owner = openAsOwner(test.connection)
  await owner.run(sql`insert into payouts (entity_id, id, wallet_id, recipient_id, to_address, chain, blockchain, token_id,
      currency, amount, submitted, status, next_attempt_at, create_date, update_date)
    select ${randomUUID()}, gen_random_uuid(), '1', gen_random_uuid(), '0xaa', 'BASE', ${blockchain}, gen_random_uuid(),
      'USD', 1, false, 'pending', now() + interval '1 hour', now(), now()
    from generate_series(1, ${restingTotal})`)
  await owner.script('analyze payouts')
  const { read } = await owner.tx(async (tx) => {
    expect((await pendingWork(tx, blockchain)).waiting).toEqual([])
    return tx.one<{ read: number }>(
      sql`select sum(seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'payouts'`,
    )
  })
  expect(read).toBeLessThan(10)
  await owner.run(
    sql`update payouts set next_attempt_at = now() where id = (select max(id::text)::uuid from payouts)`,
  )
  expect((await pendingWork(owner, blockchain)).waiting).toEqual(['payout'])
  await owner.close()
})
