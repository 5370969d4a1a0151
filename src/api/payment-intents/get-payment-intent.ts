import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { tellPaymentIntent } from './tell-payment-intent.ts'

export async function getPaymentIntent(ctx: Ctx, id: string) {
  const intent = await tellPaymentIntent(ctx.db, { entityId: ctx.entity.id, resourceId: id })
  if (!intent) throw invalid('id', 'names no payment intent of yours', id, 'paymentIntentNotFound')
  return intent
}
