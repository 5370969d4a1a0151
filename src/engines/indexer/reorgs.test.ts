import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { devAccounts } from '#sandbox/constants'
import { checkLedger } from '#testing/builders/ledger-checks'
import { openLyingNode } from '#testing/nodes/lying-node'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { quantity } from '#testing/platform/json-rpc'
import {
  blockchain,
  indexedState,
  indexFromScratch,
  insertManagedAddresses,
  openTestIndexer,
  randomAddress,
  type TestIndexer,
  untilIndexed,
} from '#testing/platform/test-indexer'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

let chain: TestChain
let indexing: TestIndexer
let stopChains: () => Promise<void>
const ours = Array.from({ length: 4 }, randomAddress)
const senders = devAccounts.slice(0, 4).map((account) => account.address)

beforeAll(async () => {
  const started = await startTestChains({ blockchains: [blockchain] })
  stopChains = started.stop
  chain = started.chains[0]!
  indexing = await openTestIndexer({ rpcUrl: chain.rpcUrl })
  await insertManagedAddresses(indexing.database, indexing.ctx, ours)
  indexing.start()
  for (const address of ours) {
    await chain.rpc('anvil_impersonateAccount', [address])
    await chain.send(address, 10n ** 18n)
    await chain.send(address, 1_000n, 'USDC')
  }
})
beforeEach(() => untilIndexed(indexing, chain.rpcUrl))
afterAll(async () => {
  await indexing.close()
  await stopChains()
})

const gas = quantity(200_000)
const pay = (from: string, to: string, value: number) =>
  chain.rpc<string>('eth_sendTransaction', [{ from, to, value: quantity(value), gas }])
const payUsdc = (from: string, to: string, amount: number) => {
  const words = [to.slice(2).toLowerCase(), amount.toString(16)].map((word) => word.padStart(64, '0'))
  return chain.rpc('eth_sendTransaction', [
    { from, to: chain.tokens.USDC, data: `0xa9059cbb${words.join('')}`, gas },
  ])
}

/** Checks that the books equal those of an indexer that only saw the winning chain, and that the oracle agrees. */
async function settledOn(rpcUrl = chain.rpcUrl): Promise<void> {
  await untilIndexed(indexing, rpcUrl)
  // A block that was read before a reorg may still be applied after it, and is reverted a moment later.
  await indexing.stop()
  indexing.start()
  await untilIndexed(indexing, rpcUrl)
  await checkLedger(indexing.database)
  expect(await indexedState(indexing.database)).toEqual(await indexFromScratch(indexing, rpcUrl))
}

/** Checks the same, but at the usual size leaves the fresh index to the next test: books contain all earlier movements. */
async function settledSoFar(): Promise<void> {
  if (isDeep) return settledOn()
  await untilIndexed(indexing, chain.rpcUrl)
  await checkLedger(indexing.database)
}

const steps = () =>
  indexing.database.all<{ step: number; kind: string; hash: string; number: number }>(
    sql`select step, kind, block_hash as hash, block_number as number from block_steps order by step`,
  )

it('reverts all blocks when the chain starts again from another genesis, or without blocks', async () => {
  const started = await startTestChains({ blockchains: [blockchain], gasLimit: 40_000_000n })
  const [next] = started.chains
  const node = await openLyingNode(chain.rpcUrl)
  const moved = await openTestIndexer({ rpcUrl: node.url })
  await insertManagedAddresses(moved.database, moved.ctx, ours)
  moved.start()
  await untilIndexed(moved, node.url)
  await next!.send(ours[0]!, 123n)
  node.forwardTo(next!.rpcUrl)
  await untilIndexed(moved, next!.rpcUrl)
  await checkLedger(moved.database)
  const truth = await indexedState(moved.database)
  expect(truth).toEqual(await indexFromScratch(moved, next!.rpcUrl))
  expect(Object.values(truth.balances)).toEqual(['123'])
  await moved.close()
  await node.close()
  await started.stop()
})

it('reverts an orphaned branch, newest block first, and applies the winning one', async () => {
  const before = await chain.snapshot()
  const count = (await steps()).length
  for (const amount of [1, 2, 3]) await pay(senders[0]!, ours[0]!, amount)
  await untilIndexed(indexing, chain.rpcUrl)
  await chain.revert(before)
  await pay(senders[1]!, ours[1]!, 7)
  await settledSoFar()
  const since = (await steps()).slice(count)
  const numbers = since.map(({ number }) => number)
  const first = numbers[0]!
  expect(since.map(({ kind }) => kind)).toEqual([
    ...Array(3).fill('applied'),
    ...Array(3).fill('undone'),
    'applied',
  ])
  expect(numbers).toEqual([first, first + 1, first + 2, first + 2, first + 1, first, first])
  expect(since.map(({ step }) => step)).toEqual(since.map((_, index) => count + 1 + index))
})

// One reorg deeper than a batch of blocks, and the deepest that reverts nothing final.
it.each(isDeep ? [1, 2, 5, 20, 71] : [20, 2])(
  'property 20: follows anvil_reorg by %i blocks',
  async (depth) => {
    for (let index = 0; index < depth; index++) await pay(senders[index % 4]!, ours[index % 4]!, 1 + index)
    await untilIndexed(indexing, chain.rpcUrl)
    await chain.reorg(depth)
    await settledOn()
  },
)

it('property 20: follows a branch with the same transactions in other blocks and another order, and some missing', async () => {
  const before = await chain.snapshot()
  await pay(senders[0]!, ours[0]!, 1)
  await payUsdc(ours[0]!, ours[1]!, 2)
  await pay(senders[2]!, ours[2]!, 3)
  await untilIndexed(indexing, chain.rpcUrl)
  await chain.revert(before)
  await chain.setAutomine(false)
  await pay(senders[2]!, ours[2]!, 3)
  await pay(senders[0]!, ours[0]!, 1)
  await chain.mine(3)
  await chain.setAutomine(true)
  await settledSoFar()
})

it('property 20: follows a branch on which a successful transaction fails', async () => {
  const before = await chain.snapshot()
  await payUsdc(ours[2]!, ours[3]!, 900)
  await untilIndexed(indexing, chain.rpcUrl)
  await chain.revert(before)
  await payUsdc(ours[2]!, senders[0]!, 500)
  await payUsdc(ours[2]!, ours[3]!, 900)
  await settledOn()
  const failed = await indexing.database.all(sql`select 1 from observed_transactions t
    join blocks b on b.hash = t.block_hash and b.canonical where not t.success`)
  expect(failed.length).toBeGreaterThan(0)
})

it('applies an orphaned block again when it is canonical again', async () => {
  const first = await chain.snapshot()
  await pay(senders[0]!, ours[0]!, 11)
  await untilIndexed(indexing, chain.rpcUrl)
  const node = await openLyingNode(chain.rpcUrl)
  const through = await openTestIndexer({ rpcUrl: node.url, connection: indexing.connection })
  await indexing.stop()
  // The node forgets its newest block for a moment, as nodes behind a balancer do when they disagree.
  const height = await chain.height()
  node.lie((method, result, [key]) => {
    if (method !== 'eth_getBlockByNumber') return result
    if (key === quantity(height)) return null
    return key === 'latest' ? { ...result, number: quantity(height - 1), hash: result.parentHash } : result
  })
  const last = async () => (await steps()).at(-1)
  through.start()
  await until(async () => (await last())?.kind === 'undone', 'the block is reverted')
  expect(await last()).toMatchObject({ number: height })
  node.lie(undefined)
  await until(async () => (await last())?.kind === 'applied', 'the block is applied again')
  expect(await last()).toMatchObject({ number: height })
  await through.close()
  await node.close()
  indexing.start()
  await settledSoFar()
  await chain.revert(first)
  await chain.mine(2)
  await settledOn()
})

describe('random histories', () => {
  /** Pseudo-random numbers, the same for the same seed, so that a failure can be repeated. */
  const dice = (seed: number) => {
    let state = seed
    return (sides: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * sides)
    }
  }
  const anything = (roll: (sides: number) => number) => {
    const [from, to] = [roll(4), roll(4)]
    const options = [
      () => pay(senders[from]!, ours[to]!, 1 + roll(100)),
      () => payUsdc(ours[from]!, ours[to]!, roll(1_500)),
      () => payUsdc(ours[from]!, senders[to]!, roll(50)),
      () => pay(ours[from]!, ours[to]!, roll(1_000)),
      () => chain.mine(1 + roll(3)),
    ]
    return options[roll(options.length)]!()
  }

  const seeds = [1, 2, 3, 4, 5, 6, 7, 8]
  const rounds = isDeep ? 4 : 2
  const one = seeds[randomInt(seeds.length)]!
  it.each(isDeep ? seeds : [one])(
    'property 20: the index equals a fresh index of the winning chain: seed %i',
    async (seed) => {
      const roll = dice(seed)
      for (let round = 0; round < rounds; round++) {
        const snapshots = [await chain.snapshot()]
        for (let index = 0; index < 6; index++) {
          await anything(roll)
          if (roll(3) === 0) snapshots.push(await chain.snapshot())
          if (roll(4) === 0) await untilIndexed(indexing, chain.rpcUrl)
        }
        const fate = roll(3)
        if (fate === 0) await chain.reorg(1 + roll(6))
        if (fate === 1) await chain.revert(snapshots[roll(snapshots.length)]!)
        for (let index = roll(5); index > 0; index--) await anything(roll)
      }
      await settledOn()
      for (const address of ours) await chain.oracle.balanceOf(address)
    },
  )
})
