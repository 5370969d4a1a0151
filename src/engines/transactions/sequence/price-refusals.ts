import type { Chain } from '#chains/chain'
import type { BroadcastOutcome } from '#chains/facets/payments'
import type { EngineCtx } from '#engines/ctx'
import { currentFees, isBelowSuggestion } from '../fees.ts'
import type { ClaimedAttempt } from '../store/attempts.ts'
import { attemptFees } from '../store/replacements.ts'

/**
 * The cause of an `underpriced` refusal of bytes priced by the chain's suggestion. `price-rose`: the chain suggests more now.
 * `unfounded`: it does not, and such a refusal must not raise the price again and again. `price-unknown`: no node reports
 * current prices. `fee-exceeded`: it suggests more than the user approved, so nothing may raise the price.
 */
export type PriceRefusal = 'price-rose' | 'unfounded' | 'price-unknown' | 'fee-exceeded'

/**
 * Returns the cause for each attempt refused as underpriced, by its id; attempts with a price fixed by the owner are left
 * out.
 */
export async function readPriceRefusals(
  ctx: EngineCtx,
  chain: Chain,
  attempts: readonly ClaimedAttempt[],
  outcomes: readonly BroadcastOutcome[],
): Promise<Map<string, PriceRefusal>> {
  const refused = attempts.filter(({ kind, state }, index) => {
    const outcome = outcomes[index]!
    const isRefused = outcome.kind === 'refused' && outcome.reason === 'underpriced'
    return isRefused && state === 'signed' && kind !== 'noop'
  })
  if (refused.length === 0) return new Map()
  const fees = (await attemptFees(ctx.database, refused)).filter(({ isFixed }) => !isFixed)
  if (fees.length === 0) return new Map()
  const suggestion = await currentFees(chain).catch(() => undefined)
  return new Map(
    fees.map((fee) => {
      if (!suggestion) return [fee.id, 'price-unknown']
      if (!isBelowSuggestion(fee, suggestion)) return [fee.id, 'unfounded']
      return [fee.id, fee.isApproved ? 'fee-exceeded' : 'price-rose']
    }),
  )
}
