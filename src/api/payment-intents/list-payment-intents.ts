import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { findPaymentIntents } from '#engines/treasury/payment-intents/index'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { paymentIntentFilters } from './schema.ts'
import { showPaymentIntent } from './show-payment-intent.ts'

type ListPaymentIntentsInput = { query: Static<typeof paymentIntentFilters>; page: PageQuery }

export async function listPaymentIntents(
  ctx: Ctx,
  { query, page }: ListPaymentIntentsInput,
): Promise<ListResult> {
  const found = await findPaymentIntents(ctx.db, ctx.entity.id, query, page)
  return { found, items: found.rows.map((intent) => showPaymentIntent(intent)) }
}
