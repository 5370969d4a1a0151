import { parseAddress } from '#chains/address'
import type { Ctx } from '#engines/ctx'
import { type UnifiedChain, unifiedChains } from '#engines/unified-balance/index'

export type Sources = { sources: readonly { depositor: string; domain?: number }[] }

/** A depositor on one chain: as asked for, and in canonical form. */
export type AskedHolder = { unified: UnifiedChain; shown: string; depositor: string }

/** The chains that are asked for; an address of another family has no balance on a chain, and is left out there. */
export function askedHolders(ctx: Ctx, { sources }: Sources): AskedHolder[] {
  const chains = unifiedChains(ctx)
  return sources.flatMap(({ depositor: shown, domain }) =>
    chains
      .filter((unified) => domain === undefined || unified.domain === domain)
      .flatMap((unified) => {
        const depositor = parseAddress(unified.blockchain, shown)
        return depositor === undefined ? [] : [{ unified, shown, depositor }]
      }),
  )
}
