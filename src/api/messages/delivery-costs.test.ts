/** Property 112: a delivery uses no more gas than its fee covers, or waits and says so. The chain tells what it used. */
import { randomBytes } from 'node:crypto'
import { concatHex } from 'viem'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { hexOf } from '#lib/hex'
import { type CrosschainMessages, crosschainMessages, type Hex } from '#testing/builders/burns'
import {
  intentOf,
  people,
  signedIntent,
  signedSet,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
  word,
} from '#testing/builders/unified-balances'
import { freshAddress } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const coin = 1_000_000n
const millionGas = 1_000_000n
/** A price with which any gas costs more than a fee: that of a local chain may be one base unit. */
const dear = 10n ** 18n

let harness: Harness
let messages: CrosschainMessages
let unified: UnifiedBalances
let base: TestChain
let ethereum: TestChain
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  messages = crosschainMessages(harness)
  unified = unifiedBalances(harness)
  base = harness.chain('BASE-SEPOLIA')
  ethereum = harness.chain('ETH-SEPOLIA')
})
afterEach(() => setPrice(0n))
afterAll(() => harness?.close())

/** Sets the price of the destination's coin, in whole USD. */
const setPrice = (usd: bigint) =>
  Object.assign(harness.ctx.config, { coinPrices: new Map(usd === 0n ? [] : [['ETH-SEPOLIA', usd * coin]]) })

/** Another block, with which the loops look again. */
const again = () => ethereum.mine()

/** The gas of a transaction, and what it cost at a price of the coin. */
async function costOf(txHash: string, usd: bigint) {
  const receipt = await ethereum.rpc<{ gasUsed: string; effectiveGasPrice: string }>(
    'eth_getTransactionReceipt',
    [txHash],
  )
  const gas = BigInt(receipt.gasUsed)
  return { gas, atomic: (gas * BigInt(receipt.effectiveGasPrice) * usd * coin) / 10n ** 18n }
}

const hookOf = (bytes: number) => concatHex([forwardHookData, hexOf(randomBytes(bytes))])

it.each([0, 1_500, 7_900])(
  'property 112: a message with %i bytes more is delivered within its fee',
  async (bytes) => {
    const usd = 2_500n
    setPrice(usd)
    const burning = { amount: 20n * coin, maxFee: 9n * coin, hookData: hookOf(bytes) }
    const hash = await messages.burn(base, ethereum, burning)
    const shown = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
    const feeAtomic = BigInt(shown.decodedMessage.decodedMessageBody.feeExecuted)
    const { gas, atomic } = await costOf(shown.forwardTxHash, usd)
    expect(atomic).toBeLessThanOrEqual(feeAtomic)
    // At the price of the table, ten USDC for a million gas.
    expect(gas * 10n * coin).toBeLessThanOrEqual(feeAtomic * millionGas)
    expect(shown).not.toHaveProperty('forwardDelayReason')
  },
)

it('property 112: a delivery that costs more than its fee waits, says so, and is made when gas is cheaper', async () => {
  setPrice(dear)
  const raised = countAlarm('delivery-costs-more')
  const to = freshAddress() as Hex
  const hash = await messages.burn(base, ethereum, { to, maxFee: 5n * coin, hookData: hookOf(0) })
  const waiting = await messages.messageWhen(base, hash, ({ forwardDelayReason }) => forwardDelayReason)
  expect(waiting).toMatchObject({
    status: 'complete',
    forwardState: 'PENDING',
    forwardDelayReason: 'insufficient_forward_fee',
  })
  expect(raised()).toBe(1)
  setPrice(1n)
  await again()
  const done = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(done).not.toHaveProperty('forwardDelayReason')
  expect(await messages.usdcOf(ethereum, to)).toBeGreaterThan(0n)
})

it('property 112: the fee of a delivery is known before the burn', async () => {
  const query = { forward: 'true' }
  const [toEthereum, toBase] = await Promise.all([
    messages.get('/v2/burn/USDC/fees/6/0', query),
    messages.get('/v2/burn/USDC/fees/0/6', query),
  ])
  expect(toBase.body[0].forwardFee).toEqual({ low: 150_000, med: 200_000, medium: 200_000, high: 250_000 })
  const { med } = toEthereum.body[0].forwardFee
  expect(med).toBeGreaterThan(2_000_000)
  const hash = await messages.burn(base, ethereum, { maxFee: BigInt(med), hookData: forwardHookData })
  const shown = await messages.messageWhen(base, hash, ({ forwardState }) => forwardState === 'COMPLETE')
  expect(BigInt(shown.decodedMessage.decodedMessageBody.feeExecuted)).toBeLessThanOrEqual(BigInt(med))
})

const forwarded = '?enableForwarder=true'

it('property 112: the mint of 14 intents costs no more than its fee, and one that costs more waits', async () => {
  const [depositor] = people
  await unified.fund(base, depositor!.address, 200n * coin, '200')
  const usd = 2_500n
  setPrice(usd)
  const recipient = freshAddress()
  const intent = (hookData: Hex = '0x') => ({
    ...intentOf(
      specOf(base, ethereum, depositor!.address, {
        value: coin,
        destinationRecipient: word(recipient),
        hookData,
      }),
    ),
    maxFee: 30n * coin,
  })
  for (const hookData of ['0x', hexOf(randomBytes(200))] as Hex[]) {
    const intents = Array.from({ length: 14 }, () => intent(hookData))
    const { status, body } = await unified.transfer([await signedSet(depositor!, intents)], forwarded)
    expect([status, body.message]).toEqual([201, undefined])
    await unified.untilState(body.transferId, 'finalized')
    const feeAtomic = BigInt(Math.round(Number(body.fees.forwardingFee) * 1e6))
    const { transactionHash } = await unified.state(body.transferId)
    const { gas, atomic } = await costOf(transactionHash, usd)
    expect(atomic).toBeLessThanOrEqual(feeAtomic)
    expect(gas * 10n * coin).toBeLessThanOrEqual(feeAtomic * millionGas)
  }
  setPrice(dear)
  const raised = countAlarm('forward-costs-more')
  const { body } = await unified.transfer([await signedIntent(depositor!, intent())], forwarded)
  const delay = async () => (await unified.state(body.transferId)).forwardingDetails.delayReason
  await until(async () => (await delay()) !== undefined, 'the mint waits')
  expect(await delay()).toBe('insufficient_forwarding_fee')
  expect(raised()).toBe(1)
  expect((await unified.state(body.transferId)).status).toBe('pending')
  setPrice(1n)
  await again()
  await unified.untilState(body.transferId, 'finalized')
  expect(await delay()).toBeUndefined()
})
