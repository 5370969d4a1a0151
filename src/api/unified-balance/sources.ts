import { parseAddress, parseAddressOf } from '#chains/address'
import type { Ctx } from '#engines/ctx'
import { type UnifiedChain, unifiedChains } from '#engines/unified-balance/index'
import { invalid } from '#lib/errors'

export type Sources = { sources: readonly { depositor: string; domain?: number }[] }

/** A depositor on one chain: as asked for, and in canonical form. */
type AskedHolder = { unified: UnifiedChain; shown: string; depositor: string }

/** The families of addresses on chains of unified balances, with or without this server. */
const families = ['evm', 'solana'] as const

/**
 * The chains that are asked for. An address of another family has no balance on a chain, and is left out there; refuses one
 * that is an address of no family, or not of the chain that its source names.
 */
export function askedHolders(ctx: Ctx, { sources }: Sources): AskedHolder[] {
  const chains = unifiedChains(ctx)
  const environment = ctx.config.crosschainEnvironment
  return sources.flatMap(({ depositor: shown, domain }, index) => {
    const location = `sources[${index}].depositor`
    if (!families.some((family) => parseAddressOf(family, shown, environment) !== undefined))
      throw invalid({
        at: location,
        reason: 'is not an address: 0x and 40 hexadecimal digits on EVM chains',
        value: shown,
      })
    return chains
      .filter((unified) => domain === undefined || unified.domain === domain)
      .flatMap((unified) => {
        const depositor = parseAddress(unified.blockchain, shown)
        if (depositor !== undefined) return [{ unified, shown, depositor }]
        if (domain === undefined) return []
        throw invalid({
          at: location,
          reason: `is not an address on ${unified.blockchain}, the chain of domain ${domain}`,
          value: shown,
        })
      })
  })
}
