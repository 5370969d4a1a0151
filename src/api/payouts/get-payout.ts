import type { Ctx } from '#engines/ctx'
import { findPayout } from '#engines/treasury/disbursements/index'
import { notFound } from '#lib/errors'
import { showPayout } from './show-payout.ts'

export async function getPayout(ctx: Ctx, id: string, options: { returnIdentities?: boolean } = {}) {
  const payout = await findPayout(ctx.db, ctx.entity.id, id)
  if (!payout) throw notFound('payout', id, 'payoutNotFound')
  return showPayout(payout, options)
}
