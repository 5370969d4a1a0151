import type { Ctx } from '#engines/ctx'
import { expireOnRequest } from '#engines/treasury/payment-intents/index'
import { invalid, notFound } from '#lib/errors'
import { getPaymentIntent } from './read-payment-intents.ts'

/** Expires a payment intent; repeatable with the same answer. A later payment is credited without a match. */
export async function expirePaymentIntent(ctx: Ctx, id: string) {
  const by = { entityId: ctx.entity.id, id, actor: ctx.actor, requestId: ctx.requestId }
  const closed = await expireOnRequest(ctx.db, ctx.clock.nowMs(), by)
  if (closed === 'unknown') throw notFound('payment intent', id, 'paymentIntentNotFound')
  if (closed === 'cannot')
    throw invalid({
      at: 'id',
      reason: 'matches an intent that is continuous or has ended: only a pending transient intent can expire',
      value: id,
    })
  return getPaymentIntent(ctx, id)
}
