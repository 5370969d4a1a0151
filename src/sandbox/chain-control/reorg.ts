/**
 * Replaces the newest blocks of a local chain by others. The chain mines nothing by itself meanwhile, so that the blocks that are
 * read are those that are replaced. The answer is given once the indexer and the engines above it have followed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHashAt, haveAllProcessedBlock } from '#engines/indexer/index'
import { ApiError, invalid } from '#lib/errors'
import { requireEvm } from '../chains/abilities.ts'
import type { Branches, Fate, LocalChain, LocalHead, Replaced } from '../chains/local-chain.ts'
import { evmBranches } from './evm-branches.ts'
import { minedWithinMs, untilMined } from './mined.ts'

export const depthMax = 64

type ReorgRequest = { depth: number; transactions: Fate; newBlocks: number | undefined }
type Reorg = Replaced & { head: LocalHead }

export async function reorganise(ctx: EngineCtx, chain: LocalChain, asked: ReorgRequest): Promise<Reorg> {
  const replaced = await branchesOf(ctx, chain).withoutMining(() => replaceBlocks(ctx, chain, asked))
  // A timer makes the next block when it is due.
  if ((await chain.pace()) === 'each_transaction') {
    const deadlineMs = performance.now() + minedWithinMs
    const waiting = [...replaced.returned, ...replaced.replaced.map(({ by }) => by)]
    for (const hash of waiting) await untilMined(chain, hash, deadlineMs)
  }
  const { number, hash } = await chain.head()
  const head = { number, hash }
  await untilFollowed(ctx, chain, head)
  return { ...replaced, head }
}

/** Replaces a block with those above it and `depth - 1` below it, as far as the node can. Undefined where it was replaced before. */
export const reorganiseAt = async (
  ctx: EngineCtx,
  chain: LocalChain,
  { number, hash, depth, transactions }: LocalHead & { depth: number; transactions: Fate },
): Promise<Replaced | undefined> =>
  branchesOf(ctx, chain).withoutMining(async () => {
    const head = await chain.head()
    if (head.number < number || (await chain.hashAt(number)) !== hash) return undefined
    const most = Math.min(depthMax, branchesOf(ctx, chain).replaceable(head.number).blocks)
    const above = head.number - number
    if (most <= above) throw new Error(`block ${number} of ${chain.blockchain} is too old to be replaced`)
    const wanted = Math.min(most, above + depth)
    return replaceBlocks(ctx, chain, { depth: wanted, transactions, newBlocks: undefined })
  })

async function replaceBlocks(ctx: EngineCtx, chain: LocalChain, asked: ReorgRequest): Promise<Replaced> {
  const { depth, transactions, newBlocks = depth } = asked
  const branches = branchesOf(ctx, chain)
  const { number: height } = await chain.head()
  const { blocks, reason } = branches.replaceable(height)
  if (depth > blocks)
    throw invalid({
      at: 'depth',
      reason: `must be at most ${blocks} on ${chain.blockchain} now, ${reason}`,
      value: depth,
    })
  if (newBlocks < depth)
    throw invalid({
      at: 'newBlocks',
      reason: `must be at least depth, ${depth}: a chain changes to a branch that is as long or longer`,
      value: newBlocks,
    })
  const { fates: own } = branches
  if (!own.includes(transactions))
    throw invalid({
      at: 'transactions',
      reason: `cannot be ${transactions} on ${chain.blockchain}, where nothing takes the place of a transaction: use ${own.join(' or ')}`,
      value: transactions,
    })
  return branches.replace({ depth, transactions, newBlocks })
}

/** How a chain changes to another branch. */
const branchesOf = (ctx: EngineCtx, chain: LocalChain): Branches =>
  chain.branches ?? evmBranches(ctx, requireEvm(chain, 'reorg'))

/** Measured on a busy machine: 64 blocks take 7 seconds. The connection of a request that waits a minute is closed. */
const followedWithinMs = 40_000
const lookEveryMs = 10

/** Waits until the blocks up to the head are indexed, and every engine has processed them: a chain on a timer goes on meanwhile. */
async function untilFollowed(
  { database }: EngineCtx,
  { blockchain }: LocalChain,
  head: LocalHead,
): Promise<void> {
  const deadlineMs = performance.now() + followedWithinMs
  const isIndexed = async () => (await canonicalHashAt(database, blockchain, head.number)) === head.hash
  while (!((await isIndexed()) && (await haveAllProcessedBlock(database, blockchain, head.hash)))) {
    if (performance.now() > deadlineMs)
      throw new ApiError(
        'unavailable',
        `The reorg of ${blockchain} is done, but its indexer did not follow to block ${head.number} within ${followedWithinMs / 1000} seconds: bezant chain list shows how far it is, and the log why.`,
      )
    await delay(lookEveryMs)
  }
}
