import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { findPayment, findPayments } from '#engines/treasury/deposits/index'
import { notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { paymentFilters } from './schema.ts'
import { showPayment } from './show-payment.ts'

export async function getPayment(ctx: Ctx, id: string) {
  const payment = await findPayment(ctx.db, ctx.entity.id, id)
  if (!payment) throw notFound('payment', id, 'paymentNotFound')
  return showPayment(payment)
}

type ListPaymentsInput = { query: Static<typeof paymentFilters>; page: PageQuery }

export async function listPayments(ctx: Ctx, { query, page }: ListPaymentsInput): Promise<ListResult> {
  const { paymentIntentId, source, settlementId } = query
  const filters = {
    paymentIntentId,
    status: query.status,
    matchesNothing: source !== undefined || settlementId !== undefined,
  }
  const found = await findPayments(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map(showPayment) }
}
