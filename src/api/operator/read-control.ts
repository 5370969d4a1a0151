import type { Static } from 'typebox'
import { type ListedPolicy, listedDecisionsPage, listedPoliciesPage } from '#custody/policy/index'
import type { Ctx } from '#engines/ctx'
import { type GapRecord, gapRecordsPage } from '#engines/indexer/reconciliation/index'
import { type Token, tokensByIds } from '#engines/ledger/tokens/index'
import { formatAmount } from '#lib/amounts'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { decisionFilters, policyFilters, reconciliationFilters } from './control-schema.ts'

export async function listPolicies(
  ctx: Ctx,
  { subjectId, inForce }: Static<typeof policyFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const found = await listedPoliciesPage(ctx.db, ctx.entity.id, { subjectId, isInForce: inForce }, page)
  return { found, items: found.rows.map(showPolicy) }
}

export const showPolicy = ({ isInForce, ...policy }: ListedPolicy) => ({ ...policy, inForce: isInForce })

export async function listDecisions(
  ctx: Ctx,
  filters: Static<typeof decisionFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const found = await listedDecisionsPage(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows }
}

/** The comparisons with the chains that ended otherwise than the one before: of a busy chain there is one every few seconds. */
export async function listReconciliations(
  ctx: Ctx,
  { blockchain, open }: Static<typeof reconciliationFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const found = await gapRecordsPage(ctx.db, ctx.entity.id, { blockchain, isOpen: open }, page)
  const tokens = await tokensByIds(ctx.db, [...new Set(found.rows.map(({ tokenId }) => tokenId))])
  return {
    found,
    items: found.rows.map((row) =>
      showGap(
        row,
        tokens.find(({ id }) => id === row.tokenId),
      ),
    ),
  }
}

function showGap({ bookedAtomic, onChainAtomic, isOpen, ...record }: GapRecord, token: Token | undefined) {
  const shown = (atomic: bigint) => formatAmount(atomic, token?.decimals ?? 0)
  return {
    ...record,
    state:
      bookedAtomic === onChainAtomic ? ('ended' as const) : isOpen ? ('open' as const) : ('changed' as const),
    ...(token && { symbol: token.symbol }),
    booked: shown(bookedAtomic),
    onChain: shown(onChainAtomic),
    gap: shown(onChainAtomic - bookedAtomic),
  }
}
