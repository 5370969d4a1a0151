/**
 * A node accepts the bytes without an answer, or acknowledges and drops them: whatever the answer, each transfer has one
 * nonce and one effect, and retries send the same bytes. `ADVERSARY_SEEDS` sets the number of runs of each shape.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import {
  type Fault,
  type HostileRpc,
  lineFaults,
  openHostileRpc,
  seededRandom,
  seedsOf,
  sendFaults,
} from '#testing/adversary/index'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, type Wallet } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

const seeds = seedsOf(1)
/** A final refusal ends a transfer, which other tests prove. */
const { refusedInvalid: _, ...openFaults } = sendFaults
const all: [string, Fault][] = Object.entries({ ...lineFaults, ...openFaults })
/** Bytes that arrived and bytes that did not, both without an answer, and three others drawn by the seed, for a replay. */
const shapes = isDeep ? all : [...all.slice(0, 2), ...seededRandom(seeds[0]!).sample(all.slice(2), 3)]
const together = isDeep ? 3 : 2
const meetings = isDeep ? 3 : 2

let harness: Harness
let sending: ReturnType<typeof transferActions>
let wallet: Wallet
let node: HostileRpc

beforeAll(async () => {
  harness = await openHarness({
    node: async ({ rpcUrl }) => {
      node = await openHostileRpc(rpcUrl, { seed: seeds[0]! })
      return { rpcUrl: node.url, timeoutMs: 700 }
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

describe.each(shapes)('a send that meets %s', (_, fault) => {
  it.each(seeds)('property 14: one nonce, the same bytes and one effect follow (seed %i)', async (seed) => {
    const random = seededRandom(seed)
    const script = { times: 1 + random.below(meetings), methods: ['eth_sendRawTransaction'] }
    const met = node.applied.length
    node.play({ fault, ...script })
    const before = node.rawTransactions.length
    const recipients = Array.from({ length: together }, freshAddress)
    const ids = await Promise.all(
      recipients.map(async (to) => {
        await sleep(random.below(40))
        return transfer(to)
      }),
    )
    await until(
      async () => (await sending.statesOf(ids)).every((state) => state === 'COMPLETE'),
      `all complete with ${fault.name}, seed ${seed}, ${JSON.stringify(script)}`,
    )
    expect(node.applied.length).toBeGreaterThan(met)
    const attempts = await harness.database.all(
      sql`select tx_hash, nonce from attempts where transaction_id = any(${ids}::uuid[])`,
    )
    expect(attempts).toHaveLength(together)
    expect(new Set(node.rawTransactions.slice(before)).size).toBe(together)
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
