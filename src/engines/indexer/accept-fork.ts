/**
 * Ends a halt: the operator determines elsewhere which branch of the chain is right, and names one of its blocks. Bookings
 * from blocks outside that branch are reverted as in any reorg, newest block first, and the chain resumes.
 */
import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { revertHead } from './reorg.ts'
import {
  type CanonicalBlock,
  canonicalHashAt,
  canonicalHead,
  lockChain,
  oldestNumber,
} from './store/blocks.ts'
import {
  entitiesAbove,
  type SentTotals,
  sentTotalsAbove,
  type TransferTotals,
  transferTotalsAbove,
} from './store/fork-totals.ts'
import { deleteHalt, findHalt, insertAcceptance } from './store/halts.ts'

type ForkBlock = { number: number; hash: string }

/** The fork of the indexed branch and the accepted one, and the bookings above it. */
export type Fork = {
  blockchain: string
  accepted: ForkBlock
  /** The newest block on both branches. */
  common: ForkBlock
  head: ForkBlock
  transfers: TransferTotals[]
  sent: SentTotals
  entityIds: string[]
}

/**
 * Finds the fork. Throws with the problem and the remedy unless the chain is halted and its endpoints have the block with
 * this hash.
 */
export async function findFork(ctx: EngineCtx, chain: Chain, acceptedHash: string): Promise<Fork> {
  const { blockchain } = chain.network
  const head = await canonicalHead(ctx.database, blockchain)
  if (!head || !(await findHalt(ctx.database, blockchain)))
    throw new Error(`${blockchain} is not halted: there is nothing to accept`)
  const accepted = await requireOnChain(chain, acceptedHash)
  const common = await newestCommon(ctx, chain, head)
  if (accepted.number <= common.number && common.number < head.number)
    throw new Error(
      `--at: block ${accepted.number} is on both branches, which fork above block ${common.number}: name a block above that`,
    )
  const [transfers, sent, entityIds] = await Promise.all([
    transferTotalsAbove(ctx.database, blockchain, common.number),
    sentTotalsAbove(ctx.database, blockchain, common.number),
    entitiesAbove(ctx.database, blockchain, common.number),
  ])
  return { blockchain, accepted, common, head, transfers, sent, entityIds }
}

/** Returns the block; throws unless the endpoints have it in their chain and agree on it. */
async function requireOnChain(chain: Chain, hash: string): Promise<ForkBlock> {
  const { blockchain } = chain.network
  const block = await chain.blocks.byHash(hash)
  if (!block)
    throw new Error(`--at: no endpoint of ${blockchain} has block ${hash}: correct the hash or the endpoints`)
  const { number } = block
  const there = await chain.blocks.hashAt(number)
  if (there !== hash)
    throw new Error(
      `--at: the endpoints of ${blockchain} have ${there ?? 'no block'} at ${number}, not ${hash}: name a block of their branch, or replace them`,
    )
  const { upTo, said } = await chain.blocks.agreedUpTo(number, async () => hash)
  if (upTo !== number)
    throw new Error(
      `--at: the endpoints of ${blockchain} do not agree on block ${number}: ${said?.join(', ')}`,
    )
  return { number, hash }
}

/** Finds the fork by binary search: two branches differ in all blocks above it. */
async function newestCommon(ctx: EngineCtx, chain: Chain, head: CanonicalBlock): Promise<ForkBlock> {
  const { blockchain } = chain.network
  const commonAt = async (number: number) => {
    const ours = await canonicalHashAt(ctx.database, blockchain, number)
    const theirs = await chain.blocks.hashAt(number)
    return ours !== undefined && ours === theirs ? { number, hash: ours } : undefined
  }
  const oldest = await oldestNumber(ctx.database, blockchain)
  let common = await commonAt(oldest)
  if (!common)
    throw new Error(
      `${blockchain}: the branches fork below block ${oldest}, the oldest that is kept, so the fork cannot be found: see docs/operate.md`,
    )
  for (let differs = head.number + 1; differs - common.number > 1; ) {
    const middle = Math.floor((common.number + differs) / 2)
    const found = await commonAt(middle)
    if (found) common = found
    else differs = middle
  }
  return common
}

/** The chain resumed, or halted again, after the fork was shown to the operator. */
export class ForkChanged extends Error {
  constructor(blockchain: string) {
    super(
      `${blockchain} has changed since the fork was shown, and nothing more was reverted: run the command again`,
    )
  }
}

/**
 * Reverts all bookings above the common block and resumes the chain. The audit trail is written first, and the chain stays
 * halted until all are reverted, so an interrupted run is repeated. Throws `ForkChanged` when the fork is no longer the one
 * shown, for example because another operator accepted it.
 */
export async function acceptFork(
  ctx: EngineCtx,
  chain: Chain,
  fork: Fork,
  onReverted: (number: number) => void = () => undefined,
): Promise<void> {
  const { blockchain, accepted, common, head, entityIds } = fork
  const actor = 'operator'
  const requireHalted = async (tx: Db) => {
    if (!(await findHalt(tx, blockchain))) throw new ForkChanged(blockchain)
  }
  await ctx.database.tx(async (tx) => {
    await lockChain(tx, blockchain)
    await requireHalted(tx)
    if ((await canonicalHead(tx, blockchain))?.hash !== head.hash) throw new ForkChanged(blockchain)
    const nowMs = ctx.clock.nowMs()
    await insertAcceptance(tx, nowMs, { blockchain, actor, accepted, common, head })
    const data = { accepted, common, head }
    await recordChanges(
      tx,
      nowMs,
      entityIds.map((entityId) => ({
        entityId,
        actor,
        type: 'chain.accepted',
        resourceId: blockchain,
        data,
      })),
    )
  })
  for (;;) {
    const top = await canonicalHead(ctx.database, blockchain)
    if (!top || top.number <= common.number) break
    await revertHead(ctx, chain, top, requireHalted)
    onReverted(top.number)
  }
  await ctx.database.tx(async (tx) => {
    await lockChain(tx, blockchain)
    if ((await canonicalHead(tx, blockchain))?.hash !== common.hash) throw new ForkChanged(blockchain)
    await deleteHalt(tx, blockchain)
  })
}
