import type { BroadcastOutcome, Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { currentFees, isOutpriced } from './fees.ts'
import type { Claimed } from './store/attempts.ts'
import { offersOf } from './store/replacements.ts'

/**
 * The cause of an `underpriced` refusal of bytes priced by the chain's suggestion. `outpriced`: prices have risen since.
 * `unexplained`: they have not, and an unfounded refusal does not raise the price again and again. `unread`: no node reports
 * current prices.
 */
export type PriceRefusal = 'outpriced' | 'unexplained' | 'unread'

/**
 * Returns the cause for each attempt refused as underpriced, by its id; attempts with a price fixed by the owner are left
 * out.
 */
export async function readPriceRefusals(
  ctx: EngineCtx,
  chain: Chain,
  attempts: readonly Claimed[],
  outcomes: readonly BroadcastOutcome[],
): Promise<Map<string, PriceRefusal>> {
  const refused = attempts.filter(({ kind, state }, index) => {
    const outcome = outcomes[index]!
    const isRefused = outcome.kind === 'refused' && outcome.reason === 'underpriced'
    return isRefused && state === 'signed' && kind !== 'filler'
  })
  if (refused.length === 0) return new Map()
  const offers = (await offersOf(ctx.database, refused)).filter(({ isFixed }) => !isFixed)
  if (offers.length === 0) return new Map()
  const suggestion = await currentFees(chain).catch(() => undefined)
  return new Map(
    offers.map((offer) => {
      if (!suggestion) return [offer.id, 'unread']
      return [offer.id, isOutpriced(offer, suggestion) ? 'outpriced' : 'unexplained']
    }),
  )
}
