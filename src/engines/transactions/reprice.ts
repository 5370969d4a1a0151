import type { BroadcastOutcome, Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { currentFees, isOutpriced } from './fees.ts'
import type { Claimed } from './store/attempts.ts'
import { offersOf } from './store/replacements.ts'

/**
 * Why bytes were refused for their price that the chain's own prices had decided. `outpriced`: these have risen since.
 * `unexplained`: they have not, and a node that only says so is not paid more and more. `unread`: no node tells what they are now.
 */
export type PriceRefusal = 'outpriced' | 'unexplained' | 'unread'

/** Of each attempt that was refused so, by its id; what its owner fixed the price of is left out. */
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
