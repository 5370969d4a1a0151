import { afterAll, beforeAll, expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
let on: ReturnType<typeof transferActions>
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['MATIC-AMOY'], config: { pendingLimits: true } })
  on = transferActions(harness)
})
afterAll(() => harness?.close())

it('refuses transactions above the limit of the network, also concurrent ones, until one has ended', async () => {
  const wallet = await on.fundedWallet({ native: '10' })
  await harness.stopEngines()
  const asked = { tokenId: undefined, amounts: ['0.001'] }
  const all = await Promise.allSettled(Array.from({ length: 25 }, () => on.transfer(wallet, asked)))
  const refused = all.filter((one) => one.status === 'rejected')
  expect(refused).toHaveLength(9)
  for (const { reason } of refused) expect(String(reason)).toMatch(/400.*155264.*cancel one/)
  const accepted = all.find((one) => one.status === 'fulfilled')!
  expect((await on.ask(accepted.value, 'cancel')).status).toBe(200)
  await on.transfer(wallet, asked)
  await expect(on.transfer(wallet, asked)).rejects.toThrow('155264')
})
