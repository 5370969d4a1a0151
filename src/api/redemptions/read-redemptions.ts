import type { Ctx } from '#engines/ctx'
import { findRedemption } from '#engines/treasury/disbursements/index'
import { notFound } from '#lib/errors'
import { showRedemption } from './show-redemption.ts'

export async function getRedemption(ctx: Ctx, id: string) {
  const redemption = await findRedemption(ctx.db, ctx.entity.id, id)
  if (!redemption) throw notFound('payout', id, 'payoutNotFound')
  return showRedemption(redemption)
}
