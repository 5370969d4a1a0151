import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { baseFeeOf, mineAtBaseFee } from '#testing/nodes/base-fee'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { feeMaxOf } from './index.ts'

let harness: Harness
let on: ReturnType<typeof transferActions>

beforeAll(async () => {
  harness = await openHarness({ config: { autoBump: true } })
  on = transferActions(harness)
})
afterAll(() => harness?.close())

/** Mines blocks at an interval, each with this base fee, until `stop`. */
function blocksAt(feeAtomic: bigint): { stop(): Promise<void> } {
  let stopped = false
  const mining = (async () => {
    while (!stopped) {
      await mineAtBaseFee(harness.chain(), feeAtomic)
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  })()
  return {
    stop: () => {
      stopped = true
      return mining
    },
  }
}

/** Checks that no signed attempt may cost more than is allowed, whichever is mined. */
async function neverOverspent(): Promise<void> {
  const rows = await harness.database.all(
    sql`select id from attempts where gas_limit * max_fee > ${feeMaxOf(baseSepolia).toString()}::numeric`,
  )
  expect(rows).toEqual([])
}

async function allMoved(wallet: Wallet, orders: readonly { id: string; to: string }[]): Promise<void> {
  const chain = harness.chain()
  const token = chain.tokens.USDC
  await chain.oracle.checkMovedOnce(
    orders.map(({ to }) => ({ from: wallet.address, to, token, amountAtomic: 500_000n })),
  )
  await chain.oracle.checkNonces(wallet.address)
  await until(async () => (await on.held(wallet)) === 0n, 'nothing is held')
}

async function order(wallet: Wallet) {
  const to = freshAddress()
  return { to, id: await on.transfer(wallet, { destinationAddress: to }) }
}

describe('a price that rises fifty-fold', () => {
  it('property 28: neither exceeds the fee cap nor delays later transfers', async () => {
    const chain = harness.chain()
    const wallet = await on.fundedWallet()
    await chain.setAutomine(false)
    const before = [await order(wallet), await order(wallet)]
    for (const { id } of before) await on.sent(id, 'original')
    const spike = blocksAt(50n * (await baseFeeOf(harness.chain())))
    const after = await order(wallet)
    for (const { id } of [...before, after]) await on.reaches(id, 'COMPLETE')
    await spike.stop()
    await neverOverspent()
    await allMoved(wallet, [...before, after])
    await chain.setAutomine(true)
  })

  it('property 28: leaves transfers waiting above the cap, and they complete when it falls', async () => {
    const chain = harness.chain()
    const wallet = await on.fundedWallet()
    await chain.setAutomine(false)
    const feeAtomic = await baseFeeOf(harness.chain())
    const before = await order(wallet)
    await on.sent(before.id, 'original')
    // A transfer could cost some three coins, which the wallet has; its limit is one.
    const spike = blocksAt(2n * 10n ** 13n)
    await on.reaches(before.id, 'STUCK')
    const refused = await order(wallet)
    expect((await on.reaches(refused.id, 'FAILED')).errorReason).toBe('FEE_EXCEEDS_MAX_ALLOWANCE')
    await spike.stop()
    const calm = blocksAt(feeAtomic)
    await on.reaches(before.id, 'COMPLETE')
    const after = await order(wallet)
    await on.reaches(after.id, 'COMPLETE')
    await calm.stop()
    await neverOverspent()
    await allMoved(wallet, [before, after])
    expect(await chain.oracle.transfers({ to: refused.to })).toEqual([])
    await chain.setAutomine(true)
  })
})
