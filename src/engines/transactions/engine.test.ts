import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { journaledResources } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress } from '#testing/builders/world'
import { sendAsIssuer } from '#testing/nodes/issuer'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'
import { startTransactionWorker } from './index.ts'

const together = isDeep ? 60 : 12
const backlog = isDeep ? 30 : 5

let harness: Harness
let on: ReturnType<typeof transferActions>

beforeAll(async () => {
  harness = await openHarness()
  on = transferActions(harness)
})
afterAll(() => harness?.close())

const grantsOf = (id: string) => harness.database.all(sql`select 1 from grants where intent_id = ${id}`)

describe('several workers', () => {
  it('assign each nonce once, without gaps, and move each value once', async () => {
    const others = [
      startTransactionWorker(harness.ctx, journaledResources),
      startTransactionWorker(harness.ctx, journaledResources),
    ]
    const wallet = await on.fundedWallet({ usdc: '1000', native: '10' })
    const made = Array.from({ length: together }, (_, index) => ({
      destinationAddress: freshAddress(),
      amounts: [`0.${String(index + 1).padStart(6, '0')}`],
    }))
    const ids = await Promise.all(made.map((each) => on.transfer(wallet, each)))
    for (const id of ids) await on.reaches(id, 'COMPLETE')
    await Promise.all(others.map((worker) => worker.stop()))
    const chain = harness.chain()
    await chain.oracle.checkNonces(wallet.address)
    expect(await chain.oracle.transactions(wallet.address)).toHaveLength(together)
    await chain.oracle.checkMovedOnce(
      made.map((each, index) => ({
        from: wallet.address,
        to: each.destinationAddress,
        token: chain.tokens.USDC,
        amountAtomic: BigInt(index + 1),
      })),
    )
    expect(await on.held(wallet)).toBe(0n)
  })
})

describe('a transfer that cannot succeed', () => {
  it('fails without native coins for its fee, and keeps neither hold nor grant', async () => {
    const wallet = await on.fundedWallet({ usdc: '10' })
    const id = await on.transfer(wallet)
    const failed = await on.reaches(id, 'FAILED')
    expect(failed.errorReason).toBe('INSUFFICIENT_NATIVE_TOKEN')
    expect(await on.held(wallet)).toBe(0n)
    expect(await grantsOf(id)).toHaveLength(0)
    expect(await harness.chain().oracle.transactions(wallet.address)).toHaveLength(0)
  })

  it('fails when it reverts in its block: the fee is spent, the amount is available again', async () => {
    const wallet = await on.fundedWallet({ usdc: '10', native: '1' })
    const id = await on.transfer(wallet, { gasLimit: '30000' })
    const failed = await on.reaches(id, 'FAILED')
    expect(failed.errorReason).toBe('FAILED_ON_CHAIN')
    expect(failed.networkFee).toBeGreaterThan(0n)
    expect(await on.held(wallet)).toBe(0n)
    const usdc = (await on.booked(wallet)).find((row) => row.tokenId === on.world.usdcId)
    expect(usdc?.postedAtomic).toBe(10_000_000n)
  })
})

describe('property 26: a transfer that reverts in its block', () => {
  const payee = freshAddress()
  it.each([
    ['the payee is blocklisted', 'blocklist', 'unblocklist', payee, /blocklisted/],
    ['the token is paused', 'pause', 'unpause', undefined, /paused/],
  ] as const)(
    'because %s gives its hold back, books its gas and says why',
    async (_, forbid, allow, whom, reason) => {
      const { setAutomine, mine, oracle, tokens } = harness.chain()
      const wallet = await on.fundedWallet()
      await setAutomine(false)
      const id = await on.transfer(wallet, { destinationAddress: payee })
      await on.reaches(id, 'SENT')
      expect(await on.held(wallet)).toBeGreaterThan(0n)
      await sendAsIssuer(harness.chain(), forbid, whom)
      await mine()
      await setAutomine(true)
      const failed = await on.reaches(id, 'FAILED')
      expect(failed.errorReason).toBe('FAILED_ON_CHAIN')
      await until(async () => (await on.read(id)).errorDetails !== null, 'the node was asked why')
      expect((await on.read(id)).errorDetails).toMatch(reason)
      expect(await on.held(wallet)).toBe(0n)
      const [sent] = await oracle.transactions(wallet.address)
      expect(sent).toMatchObject({ success: false, nonce: 0 })
      const booked = new Map(
        (await on.booked(wallet)).map(({ tokenId, postedAtomic }) => [tokenId, postedAtomic]),
      )
      expect(booked.get(baseSepolia.nativeToken.id)).toBe(10n ** 19n - sent!.feeAtomic)
      expect(booked.get(on.world.usdcId)).toBe(await oracle.balanceOf(wallet.address, tokens.USDC))
      expect(booked.get(on.world.usdcId)).toBe(10n ** 9n)
      await sendAsIssuer(harness.chain(), allow, whom)
      const again = await on.transfer(wallet, { destinationAddress: payee })
      await on.reaches(again, 'COMPLETE')
    },
  )
})

describe('a sender whose transfer cannot be signed', () => {
  it('delays neither other senders nor its own later transfers', async () => {
    const [broken, sound] = [
      await on.fundedWallet({ usdc: '10', native: '1' }),
      await on.fundedWallet({ usdc: '10', native: '1' }),
    ]
    await harness.stopEngines()
    const [lost, later, other] = [
      await on.transfer(broken),
      await on.transfer(broken),
      await on.transfer(sound),
    ]
    await harness.database.run(sql`delete from grants where intent_id = ${lost}`)
    harness.startEngines()
    await on.reaches(other, 'COMPLETE')
    await on.reaches(later, 'COMPLETE')
    expect((await on.reaches(lost, 'FAILED')).errorReason).toBe('INTERNAL_ERROR')
    expect(await on.held(broken)).toBe(0n)
    await harness.chain().oracle.checkNonces(broken.address)
  })
})

describe('a backlog', () => {
  it('denies only the transfer to an address that the issuer blocks', async () => {
    const wallet = await on.fundedWallet({ usdc: '100', native: '1' })
    await harness.stopEngines()
    const blocked = freshAddress()
    await sendAsIssuer(harness.chain(), 'blocklist', blocked)
    const bad = await on.transfer(wallet, { destinationAddress: blocked })
    const good: string[] = []
    for (let count = 0; count < backlog; count++) good.push(await on.transfer(wallet))
    harness.startEngines()
    for (const id of good) await on.reaches(id, 'COMPLETE')
    await on.reaches(bad, 'DENIED')
    expect(await on.held(wallet)).toBe(0n)
  })
})
