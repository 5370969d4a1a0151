/** The database fails over under real processes: a primary with a streaming standby on the system's PostgreSQL. */
import { afterEach, expect, it } from 'vitest'
import { systemPostgres } from '#testing/databases/system-postgres'
import type { ReplicationMode } from '#testing/failover/database-pair'
import { failOver } from '#testing/failover/fail-over'
import { openStreamingPair } from '#testing/failover/streaming-pair'
import { startTestChains } from '#testing/platform/chain'
import { programFile } from '#testing/processes/programs'
import { sizeOf } from '#testing/runner/size'

const before = sizeOf('FAILOVER_TRANSFERS', { usual: 120, deep: 1_000 })
const postgres = systemPostgres()
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of cleanups.splice(0).reverse()) await step()
})

async function run(mode: ReplicationMode) {
  const pair = await openStreamingPair(postgres!, mode)
  cleanups.push(pair.close)
  const { chains, stop } = await startTestChains({ blockchains: ['ETH-SEPOLIA'] })
  cleanups.push(stop)
  const during = Math.ceil(before / 3)
  const report = (text: string) => console.info(text)
  return failOver({
    program: await programFile('bezant'),
    pair,
    mode,
    chain: chains[0]!,
    before,
    during,
    wallets: 6,
    report,
  })
}

it.runIf(postgres)(
  'property 273: with a synchronous standby, a failover loses no accepted transfer and pays none twice',
  async () => {
    const { defects, refusals, lost } = await run('synchronous')
    expect(defects).toEqual([])
    expect(lost).toBe(0)
    expect(refusals.get(503)).toBeGreaterThan(0)
  },
)

it.runIf(postgres)(
  'property 273: with an asynchronous standby, journals bring back what was sent, and what is lost can be repeated',
  async () => {
    const { defects, lost, restored } = await run('asynchronous')
    expect(defects).toEqual([])
    expect(restored).toBeGreaterThan(0)
    expect(lost).toBeGreaterThan(0)
  },
)
