/**
 * Credits deposits. A deposit is a transfer of a credited token by an external sender to a deposit address. It is recorded
 * when a block holds it, credited to the merchant's wallet when that block has the confirmations of its network and no review
 * of its sender is pending, and reverted when the block is orphaned. It becomes a payment where the address belongs to an intent, else an incoming
 * transfer.
 */
import type { Network } from '#chains/networks/index'
import type { EngineCtx } from '#engines/ctx'
import type { ObservedTransfer } from '#engines/indexer/observed/index'
import type { Db } from '#runtime/db/db'
import { arrivalsIn } from './arrivals.ts'
import { applyIncoming, revertIncoming } from './incoming-transfers.ts'
import { applyPayments, revertPayments } from './payments.ts'
import { screenArrivals } from './screen-arrivals.ts'
import type { ObservedBlock } from './types.ts'

/** Minimum number of blocks above the place of an orphaned deposit before it counts as lost. */
const lostAfterBlocks = 12

/** Records the deposits of an applied block, and credits the deposits that now have their confirmations. */
export async function creditDeposits(
  ctx: EngineCtx,
  tx: Db,
  { network, confirmations }: { network: Network; confirmations: number },
  block: ObservedBlock & { completeTo: number },
  transfers: readonly ObservedTransfer[],
): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  const scope = { ...ctx, db: tx }
  const arrivals = await screenArrivals(scope, network, await arrivalsIn(tx, network, transfers))
  const lostTo = block.number - Math.max(confirmations, lostAfterBlocks)
  await applyPayments(tx, nowMs, network, { ...block, lostTo }, arrivals)
  await applyIncoming(tx, nowMs, network, { ...block, lostTo }, arrivals)
}

/** Reverts the deposits of an orphaned block, credited ones too, so that ledger and chain do not drift apart. */
export async function revertDeposits(
  tx: Db,
  nowMs: number,
  blockchain: string,
  block: ObservedBlock,
): Promise<void> {
  await revertIncoming(tx, nowMs, blockchain, block)
  await revertPayments(tx, nowMs, blockchain, block)
}
