import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import { failpoint } from '#lib/failpoints'
import { formatInstant } from '#lib/time'
import { isDatabaseAway } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { newTurn, rest, type Turn } from '#runtime/turns/store'
import { actor } from '../actor.ts'
import { endOrders } from './end-disbursements.ts'
import { endedOrders, lockEnded, type OrderKind, type OrderRef, showHashes } from './store/disbursements.ts'

const shownMax = 200
const endedMax = 100
/** Waiting time passed to `rest`, which defers an order that cannot be ended for a tenth of it. */
const restMs = 300_000

/** A worker's turns in the queues of one kind of order. */
export type SettlingTurns = { showing: Turn; ending: Turn }
export const settlingTurns = (): SettlingTurns => ({
  showing: newTurn('showing hashes'),
  ending: newTurn('settling orders'),
})

/** Copies transaction hashes to their orders, and ends orders whose transaction has ended. True when there may be more. */
export async function settleOrders(
  ctx: EngineCtx,
  chain: Chain,
  kind: OrderKind,
  turns: SettlingTurns,
): Promise<boolean> {
  const { blockchain } = chain.network
  const completeTo = await highestComplete(ctx.database, blockchain)
  await showRunning(ctx, turns.showing, blockchain, kind)
  const ended = await endedOrders(ctx.database, turns.ending, kind, blockchain, completeTo, endedMax)
  const settle = async (orders: readonly OrderRef[]): Promise<void> => {
    if (orders.length === 0) return
    try {
      await endThose(ctx, kind, blockchain, completeTo, orders)
    } catch (error) {
      if (orders.length === 1) return restOrder(ctx, turns.ending, blockchain, kind, orders[0]!, error)
      // Retried one by one: an order that cannot be ended delays no other.
      for (const order of orders) await settle([order])
    }
  }
  await settle(ended)
  return ended.length === endedMax
}

async function endThose(
  ctx: EngineCtx,
  kind: OrderKind,
  blockchain: string,
  completeTo: number,
  orders: readonly OrderRef[],
): Promise<void> {
  const count = await ctx.database.tx(async (tx) => {
    const ended = await lockEnded(tx, kind, blockchain, completeTo, orders)
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
    if (count > 0) failpoint('before-settlement-commit')
    return count
  })
  if (count > 0) failpoint('after-settlement-commit')
}

async function restOrder(
  ctx: EngineCtx,
  { queue }: Turn,
  blockchain: string,
  kind: OrderKind,
  { entityId, id }: OrderRef,
  error: unknown,
): Promise<void> {
  if (isDatabaseAway(error)) throw error
  ctx.log.error({ err: error, kind, entityId, id, blockchain }, 'an order was not settled; trying again')
  await rest(ctx.database, queue, blockchain, [{ entityId, key: id, waitedMs: restMs }])
}

/** Returns the error code of a failed transaction, in the vocabulary of payouts and refunds, or of transfers. */
function failureOf(kind: OrderKind, reason: string | null): string {
  if (kind !== 'transfer') return 'transaction_failed'
  return reason === 'FAILED_ON_CHAIN' ? 'blockchain_error' : 'transfer_failed'
}

async function showRunning(ctx: EngineCtx, turn: Turn, blockchain: string, kind: OrderKind): Promise<void> {
  await ctx.database.tx(async (tx) => {
    const nowMs = ctx.clock.nowMs()
    const shown = await showHashes(tx, turn, kind, blockchain, formatInstant(nowMs), shownMax)
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
