import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import { reachPoint } from '#lib/crash-points'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import { actor } from './credit.ts'
import { endOrders } from './end-orders.ts'
import { lockEnded, type OrderKind, showHashes } from './store/orders.ts'

const endedMax = 100

/** Shows what became of the transactions of orders, and ends those whose transaction has ended. True when some had. */
export async function settleOrders(ctx: EngineCtx, chain: Chain, kind: OrderKind): Promise<boolean> {
  const { blockchain } = chain.network
  const completeTo = await highestComplete(ctx.database, blockchain)
  await showRunning(ctx, blockchain, kind)
  const count = await ctx.database.tx(async (tx) => {
    const ended = await lockEnded(tx, kind, blockchain, completeTo, endedMax)
    const count = await endOrders(
      tx,
      ctx.clock.nowMs(),
      ended.map(({ state, txHash, errorReason, ...order }) => ({
        order,
        transactionHash: txHash,
        ...(state === 'COMPLETE'
          ? { status: 'complete' as const }
          : { status: 'failed' as const, errorCode: failureOf(kind, errorReason) }),
      })),
    )
    if (count > 0) reachPoint('P27')
    return count
  })
  if (count > 0) reachPoint('P28')
  return count === endedMax
}

/** Why a transaction came to nothing, in the words of payouts and of transfers. */
function failureOf(kind: OrderKind, reason: string | null): string {
  if (kind !== 'transfer') return 'transaction_failed'
  return reason === 'FAILED_ON_CHAIN' ? 'blockchain_error' : 'transfer_failed'
}

async function showRunning(ctx: EngineCtx, blockchain: string, kind: OrderKind): Promise<void> {
  await ctx.database.tx(async (tx) => {
    const nowMs = ctx.clock.nowMs()
    const shown = await showHashes(tx, kind, blockchain, formatInstant(nowMs))
    if (kind !== 'transfer') return
    await recordChanges(
      tx,
      nowMs,
      shown.map(({ entityId, id: resourceId, status }) => {
        return { entityId, actor, type: `transfer.${status}`, resourceId, data: { status } }
      }),
    )
  })
}
