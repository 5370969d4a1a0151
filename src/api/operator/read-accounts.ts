import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { type Account, accountsPage, entriesPage, findAccount } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import { notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { accountFilters } from './schema.ts'

export async function listEntries(ctx: Ctx, accountId: string, page: PageQuery): Promise<ListResult> {
  const { decimals, symbol } = await requireAccount(ctx, accountId)
  const found = await entriesPage(ctx.db, ctx.entity.id, accountId, page)
  const items = found.rows.map(({ id, fact, amountAtomic, blockHash, reversesId, createDate }) => ({
    postingId: id,
    fact,
    amount: formatAmount(amountAtomic, decimals),
    ...(symbol !== null && { symbol }),
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

export const getAccount = async (ctx: Ctx, id: string) => showAccount(await requireAccount(ctx, id))

async function requireAccount(ctx: Ctx, id: string): Promise<Account> {
  const found = await findAccount(ctx.db, ctx.entity.id, id)
  if (!found) throw notFound('account', id, 'accountNotFound')
  return found
}

/** Omits absent members: an account of a currency has no blockchain, and an external one has no address. */
const showAccount = ({ postedAtomic, heldAtomic, decimals, ...account }: Account) => ({
  ...Object.fromEntries(Object.entries(account).filter(([, value]) => value !== null && value !== '')),
  posted: formatAmount(postedAtomic, decimals),
  held: formatAmount(heldAtomic, decimals),
  available: formatAmount(postedAtomic - heldAtomic, decimals),
})
