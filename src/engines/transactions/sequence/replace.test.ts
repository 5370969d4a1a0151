import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { mineAtBaseFee } from '#testing/nodes/base-fee'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'
import { replacementFee } from '../fees.ts'

let harness: Harness
let on: ReturnType<typeof transferActions>
let wallet: Wallet

beforeAll(async () => {
  harness = await openHarness()
  on = transferActions(harness)
  wallet = await on.fundedWallet()
})
afterAll(() => harness?.close())

describe('the price of a replacement', () => {
  it('property 18: raises cap and tip by a tenth, rounded up, and keeps the tip within the cap', () => {
    const price = fc.bigInt(0n, 2n ** 128n)
    const enough = (value: bigint, before: bigint) => value > before && value * 10n >= before * 11n
    fc.assert(
      fc.property(price, price, price, price, (base, tip, cap, oldTip) => {
        const suggestion = { baseFeeAtomic: base, priorityFeeAtomic: { LOW: tip, MEDIUM: tip, HIGH: tip } }
        const before = { maxFeeAtomic: cap, priorityFeeAtomic: oldTip < cap ? oldTip : cap }
        const { maxFeeAtomic, priorityFeeAtomic } = replacementFee(suggestion, before)
        expect(enough(maxFeeAtomic, before.maxFeeAtomic)).toBe(true)
        expect(enough(priorityFeeAtomic, before.priorityFeeAtomic)).toBe(true)
        expect(priorityFeeAtomic <= maxFeeAtomic && priorityFeeAtomic >= tip).toBe(true)
      }),
      { numRuns: isDeep ? 2_000 : 500 },
    )
  })
})

/** The requests for one transaction, in order, and the attempt that is mined in the end. */
type Interleaving = [('accelerate' | 'cancel')[], 'original' | 'bump' | 'cancel']
const short: Interleaving[] = [
  [['accelerate'], 'original'],
  [['accelerate'], 'bump'],
  [['cancel'], 'original'],
  [['cancel'], 'cancel'],
]
const long: Interleaving[] = [
  [['accelerate', 'cancel'], 'original'],
  [['accelerate', 'cancel'], 'bump'],
  [['accelerate', 'cancel'], 'cancel'],
]
const interleavings = isDeep ? [...short, ...long] : [short[randomInt(short.length)]!, ...long]

describe('a transaction with several signed attempts', () => {
  it.each(interleavings)(
    'property 19: after %j, the transaction ends as the %s that a block includes',
    async (asked, taken) => {
      const chain = harness.chain()
      await chain.setAutomine(false)
      const destinationAddress = freshAddress()
      const id = await on.transfer(wallet, { destinationAddress })
      const behind = await on.transfer(wallet)
      await on.sent(id, 'original')
      for (const what of asked) {
        const { status, body } = await on.ask(id, what)
        expect([status, body.data.id], JSON.stringify(body)).toEqual([200, id])
        const { txHash } = await on.sent(id, what === 'accelerate' ? 'bump' : 'cancel')
        expect((await on.read(id)).txHash).toBe(txHash)
      }
      await on.sent(behind, 'original')
      const attempts = await on.attemptsOf(id)
      const winner = attempts.find(({ kind }) => kind === taken)!
      // A worker would send the dropped ones again.
      await harness.stopEngines()
      for (const { txHash } of attempts) await chain.rpc('anvil_dropTransaction', [txHash])
      await chain.rpc('eth_sendRawTransaction', [`0x${winner.raw.toString('hex')}`])
      await chain.mine()
      await chain.setAutomine(true)
      harness.startEngines()
      const done = await on.reaches(id, taken === 'cancel' ? 'CANCELLED' : 'COMPLETE')
      expect(done.txHash).toBe(winner.txHash)
      await on.reaches(behind, 'COMPLETE')
      await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
      const { USDC } = chain.tokens
      const moved = await chain.oracle.transfers({ to: destinationAddress, token: USDC })
      expect(moved.map(({ amountAtomic }) => amountAtomic)).toEqual(taken === 'cancel' ? [] : [500_000n])
      await chain.oracle.checkNonces(wallet.address)
      for (const what of ['accelerate', 'cancel'] as const) {
        const late = await on.ask(id, what)
        expect([late.status, late.body.code]).toEqual([400, 155229])
      }
    },
  )

  it('sends the last signed attempt again when its block is orphaned', async () => {
    const chain = harness.chain()
    await chain.setAutomine(false)
    const destinationAddress = freshAddress()
    const id = await on.transfer(wallet, { destinationAddress })
    await on.sent(id, 'original')
    await on.ask(id, 'cancel')
    const cancel = await on.sent(id, 'cancel')
    await chain.setAutomine(true)
    await chain.mine()
    await on.reaches(id, 'CANCELLED')
    await chain.reorg(1)
    await until(async () => {
      const row = await on.read(id)
      return row.state === 'CANCELLED' && row.txHash === cancel.txHash && row.blockHeight !== null
    }, 'it is cancelled again')
    await chain.oracle.checkNonces(wallet.address)
    expect(await chain.oracle.transfers({ to: destinationAddress, token: chain.tokens.USDC })).toEqual([])
    await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
  })
})

describe('an unsigned transaction', () => {
  it('is cancelled at once, and its hold is released', async () => {
    await harness.stopEngines()
    const id = await on.transfer(wallet)
    expect(await on.held(wallet)).toBeGreaterThan(0n)
    const { status, body } = await on.ask(id, 'cancel')
    expect([status, body.data]).toEqual([200, { id, state: 'CANCELLED' }])
    expect(await on.held(wallet)).toBe(0n)
    const late = await on.ask(id, 'accelerate')
    expect([late.status, late.body.code]).toEqual([400, 155229])
    harness.startEngines()
    const after = await on.transfer(wallet)
    await on.reaches(after, 'COMPLETE')
    expect(await on.attemptsOf(id)).toEqual([])
  })
})

describe('a transaction below the base fee', () => {
  it('becomes STUCK, whatever the clock of the database shows, and completes once accelerated', async () => {
    harness.clock.moveMs(6 * 3_600_000)
    const chain = harness.chain()
    await chain.setAutomine(false)
    const id = await on.transfer(wallet)
    const { maxFee } = await on.sent(id, 'original')
    await mineAtBaseFee(chain, maxFee * 3n)
    await on.reaches(id, 'STUCK')
    expect((await on.ask(id, 'accelerate')).status).toBe(200)
    const bump = await on.sent(id, 'bump')
    expect(bump.maxFee).toBeGreaterThan(maxFee * 3n)
    await chain.setAutomine(true)
    await chain.mine()
    expect((await on.reaches(id, 'COMPLETE')).txHash).toBe(bump.txHash)
  })

  it('is cancelled by a second request at a higher price', async () => {
    const chain = harness.chain()
    await chain.setAutomine(false)
    const destinationAddress = freshAddress()
    const id = await on.transfer(wallet, { destinationAddress })
    await on.sent(id, 'original')
    expect((await on.ask(id, 'cancel')).status).toBe(200)
    const { maxFee } = await on.sent(id, 'cancel')
    await mineAtBaseFee(chain, maxFee * 3n)
    await on.reaches(id, 'STUCK')
    const refused = await on.ask(id, 'accelerate')
    expect([refused.status, refused.body.code]).toEqual([400, 155229])
    expect(refused.body.message).toContain('cancel it again')
    expect((await on.ask(id, 'cancel')).status).toBe(200)
    const dearer = async () => (await on.attemptsOf(id)).find((attempt) => attempt.maxFee > maxFee * 3n)
    await until(async () => (await dearer())?.state === 'sent', 'a dearer cancellation is sent')
    await chain.setAutomine(true)
    await chain.mine()
    expect((await on.reaches(id, 'CANCELLED')).txHash).toBe((await dearer())!.txHash)
    expect(await chain.oracle.transfers({ to: destinationAddress })).toEqual([])
    await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
  })
})
