import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { type Account, accountsPage } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { accountFilters } from './schema.ts'

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
