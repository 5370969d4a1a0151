import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { paymentIdsOf } from '#engines/treasury/deposits/index'
import { findPaymentIntent, findPaymentIntents } from '#engines/treasury/payment-intents/index'
import { notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { Db } from '#runtime/db/db'
import type { ListResult } from '#runtime/http/endpoint'
import type { paymentIntentFilters } from './schema.ts'
import { showPaymentIntent } from './show-payment-intent.ts'

export async function getPaymentIntent(ctx: Ctx, id: string) {
  const intent = await readPaymentIntent(ctx.db, ctx.entity.id, id)
  if (!intent) throw notFound('payment intent', id, 'paymentIntentNotFound')
  return intent
}

/** A payment intent as the API shows it, or undefined when the entity has none of that id. */
export async function readPaymentIntent(db: Db, entityId: string, id: string) {
  const intent = await findPaymentIntent(db, entityId, id)
  if (!intent) return undefined
  if (intent.type === 'continuous') return showPaymentIntent(intent)
  return showPaymentIntent(intent, await paymentIdsOf(db, entityId, id))
}

type ListPaymentIntentsInput = { query: Static<typeof paymentIntentFilters>; page: PageQuery }

export async function listPaymentIntents(
  ctx: Ctx,
  { query, page }: ListPaymentIntentsInput,
): Promise<ListResult> {
  const found = await findPaymentIntents(ctx.db, ctx.entity.id, query, page)
  return { found, items: found.rows.map((intent) => showPaymentIntent(intent)) }
}
