/** Burns of many entities whose messages are not attested yet, as before the finality of a slow chain. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mintCoins } from './mint-coins.ts'

const burnedCount = 120

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  await harness.stopEngines()
})
afterAll(() => harness?.close())

it('property 95: burns that wait for their attestations delay no mint of another entity, and are not looked up without a pause', async () => {
  await harness.database.run(sql`with burned as (select gen_random_uuid() as entity_id, gen_random_uuid() as id, n
      from generate_series(1, ${burnedCount}) n),
    sent as (insert into transactions (entity_id, id, blockchain, address, transaction_type, custody_type, state, operation,
        tx_hash, create_date, update_date)
      select entity_id, id, 'ETH-SEPOLIA', '0x1', 'OUTBOUND', 'PLATFORM', 'COMPLETE', 'CONTRACT_EXECUTION', '0x' || n,
        now(), now() from burned)
    insert into rebalancings (entity_id, id, status, currency, source_blockchain, source_token_id, blockchain, token_id,
      amount, create_date, update_date)
    select entity_id, id, 'burning', 'USD', 'ETH-SEPOLIA', id, 'BASE-SEPOLIA', id, 1,
      ${new Date(harness.clock.nowMs()).toISOString()}::timestamptz, now() from burned`)
  const chain = harness.ctx.chains.find('BASE-SEPOLIA')!
  const asked = new Set<string>()
  const look = () => mintCoins(harness.ctx, chain, undefined, async ({ id }) => void asked.add(id))
  for (let turns = 0; asked.size < burnedCount && turns < burnedCount; turns++) await look()
  expect(asked.size).toBe(burnedCount)
  // On a slow machine the first pauses end before the last look.
  const { paused } = await harness.database.one<{ paused: number }>(
    sql`select count(*)::integer as paused from rebalancings where next_attempt_at > update_date`,
  )
  expect(paused).toBeGreaterThanOrEqual(burnedCount - (burnedCount % 50))
})
