import { headOf } from '#api/sources/chain-head'
import type { BlockRef } from '#chains/facets/blocks'
import type { Ctx } from '#engines/ctx'
import type { EventMonitor } from '#engines/indexer/events/index'
import { indexedHead } from '#engines/indexer/index'

/** The newest block of the node and the newest one that was applied. */
export type Heads = { head: BlockRef | undefined; indexed: { number: number; blockTime: string } | undefined }

/** Asks a node at most about once a second, whatever the number of monitors. Runs outside a `tx`. */
export async function headsOfChain(ctx: Ctx, blockchain: string): Promise<Heads> {
  const chain = ctx.chains.find(blockchain)
  const [head, indexed] = await Promise.all([chain && headOf(chain), indexedHead(ctx.db, blockchain)])
  return { head, indexed }
}

/** How far a monitor is behind the newest block; nothing where that is not known. */
export function lagOf(monitor: EventMonitor, { head, indexed }: Heads) {
  if (!monitor.isEnabled || !head || !indexed) return {}
  const { nextBlock, reachedDate } = monitor
  const isBehind = nextBlock !== null && nextBlock <= indexed.number
  const lagBlocks = Math.max(0, head.number - (isBehind ? nextBlock - 1 : indexed.number))
  const reached = isBehind ? reachedDate : indexed.blockTime
  if (reached === null) return { lagBlocks }
  const lagMs = lagBlocks === 0 ? 0 : Math.max(0, head.timeMs - Date.parse(reached))
  return { lagBlocks, lagSeconds: Math.ceil(lagMs / 1_000) }
}

/** The progress of the history that was asked for. */
export function historyOf({ fromBlock, nextBlock, toBlock }: EventMonitor) {
  if (fromBlock === null) return {}
  if (nextBlock === null) return { history: { fromBlock, isComplete: true } }
  return { history: { fromBlock, nextBlock, ...(toBlock !== null && { toBlock }), isComplete: false } }
}
