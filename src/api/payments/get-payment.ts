import type { Ctx } from '#engines/ctx'
import { findPayment } from '#engines/treasury/index'
import { invalid } from '#lib/errors'
import { showPayment } from './show-payment.ts'

export async function getPayment(ctx: Ctx, id: string) {
  const payment = await findPayment(ctx.db, ctx.entity.id, id)
  if (!payment) throw invalid('id', 'names no payment of yours', id, 'paymentNotFound')
  return showPayment(payment)
}
