import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStrictPool, type StrictPool } from '#testing/adversary/index'
import { transferActions } from '#testing/builders/transfers'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

const bumps = isDeep ? 6 : 3

let harness: Harness
let on: ReturnType<typeof transferActions>
let pool: StrictPool

beforeAll(async () => {
  harness = await openHarness({
    node: async (chain) => {
      pool = await openStrictPool(chain.rpcUrl)
      return { rpcUrl: pool.url, inFlightMax: 16 }
    },
  })
  on = transferActions(harness)
})
afterAll(async () => {
  await harness?.close()
  await pool?.close()
})

it(`property 18: a pool with real rules accepts all ${bumps} accelerations and the cancellation after them`, async () => {
  const wallet = await on.fundedWallet()
  const chain = harness.chain()
  await chain.setAutomine(false)
  const id = await on.transfer(wallet, { feeLevel: 'LOW' })
  await on.sent(id, 'original')
  for (let bump = 1; bump <= bumps; bump++) {
    expect((await on.ask(id, 'accelerate')).status).toBe(200)
    const signed = async () => (await on.attemptsOf(id)).filter(({ state }) => state === 'sent')
    await until(
      async () => (await on.attemptsOf(id)).length === bump + 1 && (await signed()).length === 1,
      'it is sent',
    )
  }
  expect((await on.ask(id, 'cancel')).status).toBe(200)
  const cancel = await on.sent(id, 'cancel')
  await chain.setAutomine(true)
  await chain.mine()
  expect((await on.reaches(id, 'CANCELLED')).txHash).toBe(cancel.txHash)
  const sends = pool.sends.filter(({ signed }) => signed?.from === wallet.address)
  expect(sends.filter(({ verdict }) => verdict === 'refused')).toEqual([])
  expect(new Set(sends.map(({ raw }) => raw)).size).toBe(bumps + 2)
  await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
})
