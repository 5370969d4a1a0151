import type { Ctx } from '#engines/ctx'
import { findPaymentIntent, paymentIdsOf } from '#engines/treasury/index'
import { ApiError } from '#lib/errors'
import { showPaymentIntent } from './show-payment-intent.ts'

export async function getPaymentIntent(ctx: Ctx, id: string) {
  const intent = await findPaymentIntent(ctx.db, ctx.entity.id, id)
  if (!intent) throw new ApiError('paymentIntentNotFound')
  if (intent.type === 'continuous') return showPaymentIntent(intent)
  return showPaymentIntent(intent, await paymentIdsOf(ctx.db, ctx.entity.id, id))
}
