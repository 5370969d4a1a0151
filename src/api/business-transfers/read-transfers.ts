import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { findBusinessTransfer, findBusinessTransfers } from '#engines/treasury/deposits/index'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { transferFilters } from './schema.ts'
import { showBusinessTransfer } from './show-transfer.ts'

export async function getBusinessTransfer(ctx: Ctx, id: string, query: { returnIdentities?: boolean } = {}) {
  const transfer = await findBusinessTransfer(ctx.db, ctx.entity.id, id)
  if (!transfer) throw notFound('transfer', id, 'transferNotFound')
  return showBusinessTransfer(transfer, { ...query, running: ctx.config.transferRunning })
}

type ListTransfersInput = { query: Static<typeof transferFilters>; page: PageQuery }

/** Lists transfers. There is one wallet: a filter by another one matches nothing, nor do filters by both sides at once. */
export async function listBusinessTransfers(
  ctx: Ctx,
  { query, page }: ListTransfersInput,
): Promise<ListResult> {
  const { walletId, sourceWalletId, destinationWalletId } = query
  const own = merchantWalletIdOf(ctx.entity.id)
  const asked = [walletId, sourceWalletId, destinationWalletId].filter((id) => id !== undefined)
  const filters = {
    direction: sourceWalletId ? ('out' as const) : destinationWalletId ? ('in' as const) : undefined,
    matchesNothing: asked.some((id) => id !== own) || (!!sourceWalletId && !!destinationWalletId),
  }
  const found = await findBusinessTransfers(ctx.db, ctx.entity.id, filters, page)
  const running = ctx.config.transferRunning
  return { found, items: found.rows.map((transfer) => showBusinessTransfer(transfer, { running })) }
}
