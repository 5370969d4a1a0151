/** Refusing recorded payments for good, which their sellers are told. */
import { releaseAllowance } from '#custody/policy/index'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { type PaymentRef, refuseLate, refuseUnsent, unsentInTime } from './store.ts'

/** Refuses a payment unless it has its transaction. */
export async function refusePayment(ctx: EngineCtx, tx: Db, ref: PaymentRef, refusal: string): Promise<void> {
  if ((await refuseUnsent(tx, ref, refusal)) > 0) await noteRefusal(ctx, tx, ref, refusal)
}

/** Refuses a payment that has no transaction although its time is over. */
export const refuseIfLate = (ctx: EngineCtx, ref: PaymentRef): Promise<void> =>
  ctx.database.tx(async (tx) => {
    if ((await refuseLate(tx, ref)) > 0) await noteRefusal(ctx, tx, ref, unsentInTime)
  })

/** Records a refusal; what the payment took of limits is free again, since nothing was sent. */
async function noteRefusal(
  ctx: EngineCtx,
  tx: Db,
  { entityId, id }: PaymentRef,
  reason: string,
): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  await releaseAllowance(tx, nowMs, [{ entityId, intentId: id }])
  await recordChanges(tx, nowMs, [
    { entityId, actor: 'facilitator', type: 'x402Payment.refused', resourceId: id, data: { reason } },
  ])
}
