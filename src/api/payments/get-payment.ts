import type { Ctx } from '#engines/ctx'
import { findPayment } from '#engines/treasury/deposits/index'
import { notFound } from '#lib/errors'
import { showPayment } from './show-payment.ts'

export async function getPayment(ctx: Ctx, id: string) {
  const payment = await findPayment(ctx.db, ctx.entity.id, id)
  if (!payment) throw notFound('payment', id, 'paymentNotFound')
  return showPayment(payment)
}
