import { eraseGrants, type KeyOpener } from '#custody/index'
import { releaseAllowance } from '#custody/policy/index'
import { withdrawReviews } from '#engines/compliance/index'
import type { Ctx } from '#engines/ctx'
import { resolveHolds } from '#engines/ledger/holds/index'
import { recordChanges } from '#runtime/record/store'
import { renewGrant } from '../renew-grant.ts'
import { bundleCarrying } from '../store/operations.ts'
import { cancelUnsigned, type ReplacementKind, setReplacementRequest } from '../store/replacements.ts'
import { findTransaction, type TransactionRow } from '../store/transactions.ts'

/**
 * Requests that a pending transaction is bumped or cancelled, in `ctx.db`'s tx. An unsigned one is cancelled at once;
 * otherwise a worker sends a replacement with the same nonce and a higher price, and the one that is mined decides. The
 * operation of a smart account is bumped with the bundle that carries it. A restored transaction gets a grant with `opener`.
 * Returns the updated row, or `undefined` when its state does not allow the request.
 */
export async function requestReplacement(
  ctx: Ctx,
  opener: KeyOpener,
  row: TransactionRow,
  requested: ReplacementKind,
): Promise<TransactionRow | undefined> {
  const ref = { entityId: ctx.entity.id, id: row.id }
  const isCancelled = requested === 'cancel' && (await cancelUnsigned(ctx.db, ctx.receivedMs, ref))
  if (isCancelled) {
    const intent = { entityId: ref.entityId, intentId: ref.id }
    await resolveHolds(ctx.db, ctx.receivedMs, [{ ...intent, outcome: 'voided' }])
    await eraseGrants(ctx.db, [intent])
    await releaseAllowance(ctx.db, ctx.receivedMs, [intent])
    await withdrawReviews(ctx.db, ctx.receivedMs, [ref])
  } else {
    const carrier = await carrierOf(ctx, row, requested)
    if (
      !carrier ||
      !(await setReplacementRequest(ctx.db, ctx.receivedMs, row.blockchain, carrier, requested))
    )
      return undefined
    // The bundle is a transaction of the treasury, whose grants workers renew.
    if (row.userOpHash === null) await renewGrant(ctx, opener, row)
  }
  const { actor, requestId } = ctx
  const type = isCancelled
    ? 'transaction.cancelled'
    : `transaction.${requested === 'bump' ? 'accelerate' : 'cancel'}Requested`
  await recordChanges(ctx.db, ctx.receivedMs, [
    {
      entityId: ref.entityId,
      actor,
      requestId,
      type,
      resourceId: row.id,
      ...(isCancelled && { data: { state: 'CANCELLED' } }),
    },
  ])
  return findTransaction(ctx.db, { entityId: ref.entityId }, ref.id)
}

/** The transaction to replace: the row itself, or the bundle with its operation, which may carry others too. */
async function carrierOf(
  { db, entity }: Ctx,
  { id, userOpHash }: TransactionRow,
  requested: ReplacementKind,
) {
  const ref = { entityId: entity.id, id }
  if (userOpHash === null) return ref
  return requested === 'bump' ? bundleCarrying(db, ref) : undefined
}
