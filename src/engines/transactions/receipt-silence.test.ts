/**
 * A node has no receipt, or a head that is frozen, lags or jumps back and forth, for up to 200 blocks: an unseen
 * transaction may have been sent, and nothing is paid again. The chain is a configured one, because the node of a local
 * one may only lag. `ADVERSARY_SEEDS` sets the number of runs of each shape.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import {
  type Fault,
  faults,
  type HostileRpc,
  openHostileRpc,
  type SeededRandom,
  seededRandom,
  seedsOf,
} from '#testing/adversary/index'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { shortFinalityNetwork } from '#testing/platform/chain'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

const seeds = seedsOf(1)
const blocksMax = isDeep ? 200 : 60
const { confirmations } = shortFinalityNetwork
const hourMs = 3_600_000

/** Scripts that lie for up to this many blocks. */
const all: [string, (blocks: number, random: SeededRandom) => Fault][] = [
  ['no receipts', (blocks) => faults.nullReceipts(blocks)],
  ['errors for receipts', (blocks) => faults.receiptErrors(blocks)],
  ['a head that stands still', (blocks) => faults.frozenHead(blocks)],
  ['a head that lags', (blocks) => faults.staleHead(blocks)],
  ['a head that travels in time', (blocks, random) => faults.timeTravel(1 + random.below(blocks))],
  ['resets for everything but sends', () => faults.resetAfter],
]
/** Drawn by the seed, so that a replay draws the same ones. */
const shapes = isDeep ? all : seededRandom(seeds[0]!).sample(all, 2)

let harness: Harness
let sending: ReturnType<typeof transferActions>
let wallet: Wallet
let node: HostileRpc

beforeAll(async () => {
  harness = await openHarness({
    blockchains: [shortFinalityNetwork.blockchain],
    node: async ({ rpcUrl }) => {
      node = await openHostileRpc(rpcUrl, { seed: seeds[0]! })
      return { rpcUrl: node.url, local: false, timeoutMs: 2_000 }
    },
  })
  sending = transferActions(harness)
  wallet = await sending.fundedWallet()
})
afterAll(async () => {
  await harness?.close()
  await node?.close()
})

const transfer = (destinationAddress: string) =>
  sending.transfer(wallet, { destinationAddress, amounts: ['0.25'] })

const attemptsOf = (ids: readonly string[]) =>
  harness.database.all<{ txHash: string }>(
    sql`select tx_hash from attempts where transaction_id = any(${ids}::uuid[])`,
  )

const reading = [
  'eth_getTransactionReceipt',
  'eth_getBlockReceipts',
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_getLogs',
  'eth_blockNumber',
]

describe.each(shapes)(`%s for up to ${blocksMax} blocks`, (name, shape) => {
  it.each(seeds)('property 15: a transfer is never paid again (seed %i)', async (seed) => {
    const random = seededRandom(seed)
    const blocks = 1 + random.below(blocksMax)
    const what = `${name} for ${blocks} blocks, seed ${seed}`
    const before = node.rawTransactions.length
    const recipients = [freshAddress(), freshAddress()]
    node.play({ fault: shape(blocks, random), methods: reading })
    const ids = await Promise.all(recipients.map(transfer))
    await until(async () => new Set(node.rawTransactions.slice(before)).size === 2, `both are sent: ${what}`)
    for (let mined = 0; mined < blocks; ) {
      const some = Math.min(blocks - mined, 1 + random.below(60))
      await harness.chain().mine(some)
      mined += some
      harness.clock.moveMs(random.below(6) * hourMs)
      await sleep(random.below(120))
      expect(await attemptsOf(ids)).toHaveLength(2)
      expect((await sending.statesOf(ids)).every((state) => state !== 'FAILED')).toBe(true)
    }
    node.play()
    await harness.chain().mine(confirmations)
    await until(
      async () => (await sending.statesOf(ids)).every((state) => state === 'COMPLETE'),
      `complete: ${what}`,
    )
    expect(await attemptsOf(ids)).toHaveLength(2)
    expect(new Set(node.rawTransactions.slice(before)).size).toBe(2)
    const chain = harness.chain()
    await chain.oracle.checkNonces(wallet.address)
    await chain.oracle.checkMovedOnce(
      recipients.map((to) => ({
        from: wallet.address,
        to,
        token: chain.tokens.USDC,
        amountAtomic: 250_000n,
      })),
    )
  })
})
