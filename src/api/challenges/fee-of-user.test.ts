import { afterAll, beforeAll, expect, it } from 'vitest'
import { fundUntilBooked } from '#testing/builders/funds'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { baseFeeOf, mineAtBaseFee } from '#testing/nodes/base-fee'
import { approved, shownChallenge } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'

let harness: Harness
let world: World
let user: Awaited<ReturnType<typeof makePinUser>>
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  user = await makePinUser(world)
  await fundUntilBooked(harness, user.wallet, { usdc: '10', native: '1' })
})
afterAll(() => harness?.close())

/** Asks for a transfer; returns the challenge and the most that it costs, as the user is shown. */
async function asked(destinationAddress: string): Promise<{ id: string; most: number }> {
  const { id: walletId } = user.wallet
  const fields = { walletId, tokenId: world.usdcId, destinationAddress, amounts: ['1'], feeLevel: 'MEDIUM' }
  const id = await askUser(world, user, 'transactions/transfer', fields)
  const { summary } = await shownChallenge(world, user, id)
  const { value } = summary.details.find(({ name }: { name: string }) => name === 'feeMax')
  expect(value).toMatch(/^0\.\d+ ETH/)
  return { id, most: Number.parseFloat(value) }
}

async function ended(challengeId: string) {
  const [id] = (await approved(world, user, challengeId)).challenge.correlationIds
  const read = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
  await until(async () => ['COMPLETE', 'FAILED'].includes((await read()).state), 'the transfer has ended')
  return read()
}

/** Sets a price at which the least gas that a transaction takes costs more, whatever tips the chain has seen. */
const raisePrice = (most: number) => mineAtBaseFee(harness.chain(), BigInt(Math.ceil(most * 1e18)) / 20_000n)

const tooDear = { state: 'FAILED', errorReason: 'FEE_EXCEEDS_MAX_ALLOWANCE' }
const received = (address: string) => harness.chain().oracle.balanceOf(address, harness.chain().tokens.USDC)

it('property 156: a transfer costs no more than its user was shown, or is not sent', async () => {
  const [paid, unpaid] = [freshAddress(), freshAddress()]
  const usual = await asked(paid)
  const { state, networkFee } = await ended(usual.id)
  expect([state, Number(networkFee) > 0, Number(networkFee) <= usual.most]).toEqual(['COMPLETE', true, true])

  const usualFee = await baseFeeOf(harness.chain())
  const { id, most } = await asked(unpaid)
  await raisePrice(most)
  expect(await ended(id)).toMatchObject(tooDear)
  expect(await received(unpaid)).toBe(0n)
  await mineAtBaseFee(harness.chain(), usualFee)
})

it('property 156: a price that rises between the signature and the node costs its user no more', async () => {
  const unpaid = freshAddress()
  const { id, most } = await asked(unpaid)
  let sends = 0
  harness.chain().intercept(async ({ body }) => {
    if (body.includes('eth_sendRawTransaction') && sends++ === 0) await raisePrice(most)
    return 'forward'
  })
  try {
    expect(await ended(id)).toMatchObject(tooDear)
  } finally {
    harness.chain().intercept(undefined)
  }
  expect([sends, await received(unpaid)]).toEqual([1, 0n])
})
