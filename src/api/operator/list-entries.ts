import type { Ctx } from '#engines/ctx'
import { accountDecimals, entriesPage } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import { notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'

export async function listEntries(ctx: Ctx, accountId: string, page: PageQuery): Promise<ListResult> {
  const decimals = await accountDecimals(ctx.db, ctx.entity.id, accountId)
  if (decimals === undefined) throw notFound('account', accountId, 'accountNotFound')
  const found = await entriesPage(ctx.db, ctx.entity.id, accountId, page)
  const items = found.rows.map(({ id, fact, amountAtomic, blockHash, reversesId, createDate }) => ({
    postingId: id,
    fact,
    amount: formatAmount(amountAtomic, decimals),
    ...(blockHash !== '' && { blockHash }),
    ...(reversesId !== null && { reversesId }),
    createDate,
  }))
  return { found, items }
}
