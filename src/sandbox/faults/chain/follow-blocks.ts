import type { EngineCtx } from '#engines/ctx'
import { canonicalBetween, canonicalHead, haveAllProcessedBlock } from '#engines/indexer/index'
import { hearNotices } from '#runtime/pg-notifications'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import type { LocalChain } from '../../chains/index.ts'
import { type BlockTransaction, transactionsOf } from './transactions-of.ts'

export type MinedBlock = { number: number; hash: string; transactions: readonly BlockTransaction[] }

/** How far below the newest block blocks can be replaced. */
const reach = 64
/** Blocks of one turn. */
const readMax = 500
const lookEveryMs = 50

/** Follows the blocks of a chain while it is started; what it has seen is kept when it is stopped. */
export type BlockFollower = { start(): void; stop(): Promise<void> }

/**
 * Calls `onBlock` for each block that is mined from now on and has transactions, once the platform has processed it, so that
 * what a rule does to it comes after what it brought. A transaction counts in the first block that has it alone: one that is mined
 * again after a reorg is no new one. `onBlock` returns the hashes of transactions that do not count either.
 */
export async function openFollower(
  ctx: EngineCtx,
  chain: LocalChain,
  onBlock: (block: MinedBlock) => Promise<readonly string[]>,
): Promise<BlockFollower> {
  const { blockchain } = chain
  const turn = readBlocks(ctx, chain, await blocksSoFar(chain), onBlock)
  let service: Service | undefined
  return {
    start: () => {
      const trouble = logTrouble(ctx.log, 'following a chain for faults', { blockchain })
      const loop = repeat(turn, trouble, lookEveryMs)
      service = serviceOf(hearNotices(ctx, 'block_steps', loop.wake), loop)
    },
    stop: async () => {
      await service?.stop()
      service = undefined
    },
  }
}

type BlocksSoFar = { known: Map<string, number>; head: number }

/** Returns a function that reads the blocks that are new since its last call; whether there were some. */
function readBlocks(
  ctx: EngineCtx,
  chain: LocalChain,
  { known, head }: BlocksSoFar,
  onBlock: (block: MinedBlock) => Promise<readonly string[]>,
): () => Promise<boolean> {
  const { database } = ctx
  const { blockchain } = chain
  const counted = new Set<string>()
  let last = head
  let newest: string | undefined
  return async () => {
    const top = await canonicalHead(database, blockchain)
    if (!top || top.hash === newest) return false
    const from = Math.max(0, Math.min(last + 1, top.number - reach + 1))
    const blocks = await canonicalBetween(database, blockchain, from, from + readMax - 1)
    for (const { number, hash } of blocks) {
      if (known.has(hash)) continue
      if (!(await haveAllProcessedBlock(database, blockchain, hash))) return false
      const all = await transactionsOf(ctx, chain, hash)
      const transactions = all.filter(({ txHash }) => !counted.has(txHash))
      for (const { txHash } of transactions) counted.add(txHash)
      known.set(hash, number)
      last = number
      if (transactions.length > 0)
        for (const txHash of await onBlock({ number, hash, transactions })) counted.add(txHash)
    }
    for (const [hash, number] of known) if (number < last - 2 * reach) known.delete(hash)
    // The next turn reads those beyond what was read, if any.
    if (blocks.at(-1)?.hash === top.hash) newest = top.hash
    return true
  }
}

/** The newest blocks that the chain has already: none of them counts. */
async function blocksSoFar(chain: LocalChain): Promise<BlocksSoFar> {
  const { number: head } = await chain.head()
  const from = Math.max(0, head - reach + 1)
  const numbers = Array.from({ length: head - from + 1 }, (_, index) => from + index)
  const hashes = await Promise.all(numbers.map(chain.hashAt))
  const known = new Map(hashes.map((hash, index) => [hash, numbers[index]!]))
  return { known, head }
}
