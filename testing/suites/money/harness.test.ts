import { afterAll, beforeAll, expect, it } from 'vitest'
import { worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())

it('is a whole platform: a wallet is created, funded and pays another', async () => {
  const world = worldOf(harness)
  const funded = await world.fundedWallet()
  const transfer = await world.transfer()
  expect(transfer.id).toBeTruthy()
  const { oracle, tokens } = harness.chain()
  expect(await oracle.transfers({ to: funded.address, token: tokens.USDC })).toHaveLength(1)
})

it('has tenants that do not see each other', async () => {
  const other = worldOf(harness, await harness.newEntity())
  const { id } = await other.walletSet()
  expect((await harness.http('GET', `/v1/w3s/walletSets/${id}`)).status).toBe(404)
  expect((await other.tenant.http('GET', `/v1/w3s/walletSets/${id}`)).status).toBe(200)
})
