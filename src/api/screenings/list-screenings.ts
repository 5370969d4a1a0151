import type { Static } from 'typebox'
import { findScreening, type Screening, screeningsPage } from '#engines/compliance/index'
import type { Ctx } from '#engines/ctx'
import { invalid, notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { screeningFilters } from './schema.ts'
import { requireSubject } from './screen-address.ts'
import { showScreening } from './show-screening.ts'

export async function listScreenings(
  ctx: Ctx,
  { address, ...filters }: Static<typeof screeningFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const canonical = canonicalOf(address, filters.chain)
  const matched = { ...filters, ...(canonical !== undefined && { address: canonical }) }
  const found = await screeningsPage(ctx.db, ctx.entity.id, matched, page)
  return { found, items: found.rows.map(showDated) }
}

export async function getScreening(ctx: Ctx, id: string) {
  const found = await findScreening(ctx.db, ctx.entity.id, id)
  if (!found) throw notFound('screening', id, 'screeningNotFound')
  return showDated(found)
}

const showDated = (screening: Screening) => ({
  ...showScreening(screening),
  createDate: screening.createDate,
})

function canonicalOf(address: string | undefined, chain: Static<typeof screeningFilters>['chain']) {
  if (address === undefined) return undefined
  if (!chain) throw invalid({ at: 'chain', reason: 'is missing: an address is spelled as on its chain' })
  return requireSubject(chain, address).address
}
