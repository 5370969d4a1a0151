import { eraseGrants, releaseAllowance } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { resolveHolds } from '#engines/ledger/index'
import { recordChanges } from '#runtime/record/store'
import { leaveQueue, type Wish, wish } from './store/replacements.ts'
import { findTransaction, type TransactionRow } from './store/transactions.ts'

/**
 * Requests that a pending transaction is bumped or cancelled, in `ctx.db`'s tx. An unsigned one is cancelled at once;
 * otherwise a worker sends a replacement with the same nonce and a higher price, and the one that is mined decides. Returns
 * the updated row, or `undefined` when its state does not allow the request.
 */
export async function control(
  ctx: Ctx,
  row: TransactionRow,
  wanted: Wish,
): Promise<TransactionRow | undefined> {
  const ref = { entityId: ctx.entity.id, id: row.id }
  const left = wanted === 'cancel' && (await leaveQueue(ctx.db, ctx.receivedMs, ref))
  if (left) {
    const intent = { entityId: ref.entityId, intentId: ref.id }
    await resolveHolds(ctx.db, ctx.receivedMs, [{ ...intent, outcome: 'voided' }])
    await eraseGrants(ctx.db, [intent])
    await releaseAllowance(ctx.db, ctx.receivedMs, [intent])
  } else if (!(await wish(ctx.db, ctx.receivedMs, row.blockchain, ref, wanted))) return undefined
  const { actor, requestId } = ctx
  const type = left
    ? 'transaction.cancelled'
    : `transaction.${wanted === 'bump' ? 'accelerate' : 'cancel'}Requested`
  await recordChanges(ctx.db, ctx.receivedMs, [
    {
      entityId: ref.entityId,
      actor,
      requestId,
      type,
      resourceId: row.id,
      ...(left && { data: { state: 'CANCELLED' } }),
    },
  ])
  return findTransaction(ctx.db, ref.entityId, ref.id)
}
