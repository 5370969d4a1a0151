import type { Static } from 'typebox'
import { networkOfBusinessChain } from '#chains/networks/index'
import type { Ctx } from '#engines/ctx'
import { findPayout, findPayouts } from '#engines/treasury/disbursements/index'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { invalid, notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { fiatTypes, type payoutFilters } from './schema.ts'
import { showPayout } from './show-payout.ts'

export async function getPayout(ctx: Ctx, id: string, options: { returnIdentities?: boolean } = {}) {
  const payout = await findPayout(ctx.db, ctx.entity.id, id)
  if (!payout) throw notFound('payout', id, 'payoutNotFound')
  return showPayout(payout, options)
}

type ListPayoutsQuery = Static<typeof payoutFilters>

export async function listPayouts(
  ctx: Ctx,
  { query, page }: { query: ListPayoutsQuery; page: PageQuery },
): Promise<ListResult> {
  checkSource(query.source)
  checkTypes(listOf(query.type) ?? [])
  const { source, sourceCurrency, destinationCurrency, chain } = query
  const blockchain = chain && networkOfBusinessChain(chain, ctx.entity.environment)?.blockchain
  const filters = {
    recipientId: query.destination,
    statuses: listOf(query.status),
    currencies: [sourceCurrency, destinationCurrency].filter((currency) => currency !== undefined),
    blockchain,
    // There is one wallet, and no payout on a chain without a network.
    matchesNothing:
      (source !== undefined && source !== merchantWalletIdOf(ctx.entity.id)) ||
      (chain !== undefined && blockchain === undefined),
  }
  const found = await findPayouts(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map((payout) => showPayout(payout)) }
}

const listOf = (value: string | string[] | undefined) => (typeof value === 'string' ? [value] : value)

function checkSource(source: string | undefined): void {
  if (source !== undefined && !/^\d+$/.test(source))
    throw invalid({
      at: 'source',
      reason: 'must be a wallet id: digits',
      value: source,
      kind: 'walletIdNotNumeric',
      error: 'pattern_mismatch',
    })
}

/** Refuses fiat destinations: payouts to bank accounts are another API. */
function checkTypes(types: readonly string[]): void {
  const fiat = types.filter((type) => fiatTypes.includes(type))
  if (fiat.length === 0) return
  if (fiat.length < types.length)
    throw invalid({
      at: 'type',
      reason: 'mixes crypto and fiat destinations',
      value: types,
      kind: 'destinationTypesMixed',
    })
  throw invalid({ at: 'type', reason: 'must be address_book: this list has no fiat payouts', value: fiat[0] })
}
