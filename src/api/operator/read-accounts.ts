import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { type Account, accountDecimals, accountsPage, entriesPage } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import { notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { accountFilters } from './schema.ts'

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

export async function listAccounts(
  ctx: Ctx,
  filters: Static<typeof accountFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const found = await accountsPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map(showAccount) }
}

/** Omits absent members: an account of a currency has no blockchain, and an external one has no address. */
const showAccount = ({ postedAtomic, heldAtomic, decimals, ...account }: Account) => ({
  ...Object.fromEntries(Object.entries(account).filter(([, value]) => value !== null && value !== '')),
  posted: formatAmount(postedAtomic, decimals),
  held: formatAmount(heldAtomic, decimals),
  available: formatAmount(postedAtomic - heldAtomic, decimals),
})
