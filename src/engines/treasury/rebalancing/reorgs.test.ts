/** Reorgs of the blocks that burn and mint moved coins. On a local chain one block makes final, and is orphaned all the same. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { rebalancingsOf } from '#testing/builders/rebalancings'
import { fundMerchantWallet, type World, worldOf } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const unit = 1_000_000n

let harness: Harness
let world: World
let own: ReturnType<typeof rebalancingsOf>
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness)
  own = rebalancingsOf(world)
  await own.allow()
  await fundMerchantWallet(world, 30n * unit, 'ETH')
})
afterAll(() => harness?.close())

const hashOf = async (id: string | null) =>
  (
    await harness.database.one<{ hash: string }>(
      sql`select tx_hash as hash from transactions where id = ${id}`,
    )
  ).hash

const blockOf = async (chain: TestChain, hash: string) =>
  chain.rpc<{ blockNumber: string; blockHash: string } | null>('eth_getTransactionReceipt', [hash])

/** Replaces the block of a transaction and all above it, and waits until it is in another block. */
async function reorgFrom(chain: TestChain, hash: string): Promise<void> {
  const before = await blockOf(chain, hash)
  await chain.reorg((await chain.height()) - Number(before!.blockNumber) + 1)
  await until(async () => {
    const now = await blockOf(chain, hash)
    return now !== null && now.blockHash !== before!.blockHash
  }, 'the transaction is mined again')
}

const mintIdOf = async (id: string) =>
  (await harness.database.one<{ mintId: string }>(sql`select mint_id from rebalancings where id = ${id}`))
    .mintId

it('property 95: a burn that leaves its chain before it is attested is mined again and mints once', async () => {
  await own.setAttester(true)
  await own.ethereum.setAutomine(false)
  const { id, address } = await own.pay('4')
  const isBurning = async () => (await own.rows()).at(-1)?.status === 'burning'
  await until(async () => {
    // A block with the burn would have it attested before the attester is gone.
    if (await isBurning()) return true
    await own.ethereum.mine()
    return isBurning()
  }, 'the burn is recorded')
  await own.setAttester(false)
  await own.ethereum.setAutomine(true)
  await until(async () => {
    await own.ethereum.mine()
    return (await own.moneyOf()).moving === 4n * unit
  }, 'the coins are burned')
  const { id: rebalancingId } = (await own.rows()).at(-1)!
  await reorgFrom(own.ethereum, await hashOf(rebalancingId))
  await own.setAttester(true)
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  expect(await own.usdcOf(own.base, address)).toBe(4n * unit)
  await own.allArrived()
  expect(await own.rows()).toHaveLength(1)
  await checkLedger(harness.database)
})

it('property 95: a mint, and a burn after its mint, that leave their chains are mined again, and every coin is explained', async () => {
  const { id, address } = await own.pay('5')
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  await own.allArrived()
  const { id: rebalancingId } = (await own.rows()).at(-1)!
  await reorgFrom(own.base, await hashOf(await mintIdOf(rebalancingId)))
  await until(async () => {
    const row = (await own.rows()).at(-1)!
    return row.status === 'complete' && row.reopened
  }, 'the mint counts again')
  await reorgFrom(own.ethereum, await hashOf(rebalancingId))
  await own.allArrived()
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  expect(await own.usdcOf(own.base, address)).toBe(5n * unit)
  expect(await own.treasuryCoins(own.ethereum)).toBe(21n * unit)
  expect((await own.rows()).map(({ status }) => status)).toEqual(['complete', 'complete'])
  await checkLedger(harness.database)
})
