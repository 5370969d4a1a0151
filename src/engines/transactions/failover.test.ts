/**
 * The first of two providers is down for a while, and the second limits its rate: customers only notice that nothing
 * becomes final without a second provider to agree. `OUTAGE_MS` sets the duration.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { faults, type HostileRpc, openHostileRpc, seedsOf } from '#testing/adversary/index'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { sizeOf } from '#testing/runner/size'

const outageMs = sizeOf('OUTAGE_MS', { usual: 1_500, deep: 60_000 })
const [seed = 1] = seedsOf(1)

let harness: Harness
let sending: ReturnType<typeof transferActions>
let wallet: Wallet
let first: HostileRpc
let second: HostileRpc
const alarms: string[] = []

beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['AVAX-FUJI'],
    // A busy machine must keep up with them: two providers are asked about each block.
    blockTimeMs: 500,
    node: async ({ rpcUrl }) => {
      first = await openHostileRpc(rpcUrl, { seed })
      second = await openHostileRpc(rpcUrl, { seed })
      return { rpcUrl: first.url, rpcUrls: [first.url, second.url], local: false, timeoutMs: 3_000 }
    },
  })
  const { log } = harness.ctx
  const { error } = log
  log.error = ((...said: Parameters<typeof error>) => {
    const { alarm } = said[0] as { alarm?: string }
    if (alarm) alarms.push(alarm)
    else error.apply(log, said)
  }) as typeof error
  sending = transferActions(harness)
  wallet = await sending.fundedWallet()
})
afterAll(async () => {
  await harness?.close()
  await first?.close()
  await second?.close()
})

const recipients: string[] = []

/** Requests a transfer; throws unless it is accepted. */
function transfer(): Promise<string> {
  const destinationAddress = freshAddress()
  recipients.push(destinationAddress)
  return sending.transfer(wallet, { destinationAddress, amounts: ['0.25'] })
}

async function countOf(ids: readonly string[]): Promise<Record<string, number>> {
  const rows = await harness.database.all<{ state: string; count: number }>(
    sql`select state, count(*) as count from transactions where id = any(${ids}::uuid[]) group by state`,
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

const allComplete = (ids: readonly string[]) => async () => (await countOf(ids))['COMPLETE'] === ids.length

it(`property 22: deposits and transfers continue while one provider is down and the other limits the rate (seed ${seed})`, async () => {
  const before = [await transfer(), await transfer()]
  await until(allComplete(before), 'all is well')
  await first.down()
  second.play({ fault: faults.rateLimited, chance: 0.1 })
  // Both endpoints have answered all earlier calls.
  await sleep(500)
  const during: string[] = []
  const endMs = performance.now() + outageMs
  while (performance.now() < endMs) {
    during.push(await transfer())
    await sleep(250)
  }
  second.play()
  await until(async () => ((await countOf(during))['CONFIRMED'] ?? 0) > 0, 'the other one serves')
  const counted = await countOf(during)
  expect([counted['COMPLETE'], counted['FAILED']]).toEqual([undefined, undefined])
  await until(async () => alarms.includes('providers-disagree'), 'the alarm is raised')
  // In a long outage the provider that limits its rate refuses a call three times in a row.
  const kinds = new Set(alarms.filter((alarm) => alarm !== 'provider-trouble'))
  expect(kinds).toEqual(new Set(['providers-disagree']))
  await first.up()
  await until(allComplete(during), 'it catches up')
  const { oracle, tokens } = harness.chain()
  await oracle.checkNonces(wallet.address)
  await oracle.checkMovedOnce(
    recipients.map((to) => ({ from: wallet.address, to, token: tokens.USDC, amountAtomic: 250_000n })),
  )
  expect(new Set([...first.rawTransactions, ...second.rawTransactions]).size).toBe(
    before.length + during.length,
  )
})

it('property 21: a block that only one provider reports decides nothing', async () => {
  const honest = [await transfer()]
  await until(allComplete(honest), 'all is well')
  // One of the two is on a fork from now on: neither outvotes the other.
  second.play({ fault: faults.otherBlocks })
  alarms.length = 0
  const doubted = [await transfer()]
  await until(async () => alarms.includes('providers-disagree'), 'the alarm is raised')
  await sleep(1_000)
  expect((await countOf(doubted))['COMPLETE']).toBeUndefined()
  second.play()
  await until(allComplete(doubted), 'they agree again')
})
