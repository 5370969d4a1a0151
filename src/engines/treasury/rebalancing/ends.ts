import type { Chain } from '#chains/chain'
import type { Crosschain } from '#chains/crosschain/crosschain'
import { type NetworkToken, stablecoinNamed } from '#chains/network'
import type { EngineCtx } from '#engines/ctx'

/** A chain from and to which coins of a token can be moved. */
export type RebalancingEnd = { chain: Chain; blockchain: string; crosschain: Crosschain; token: NetworkToken }

/** The only token that messages move. */
const movedSymbol = 'USDC'

/** The chain as an end of a rebalancing; `undefined` where it has no messages, or this server does not attest them. */
export function endOf({ config }: EngineCtx, chain: Chain): RebalancingEnd | undefined {
  const { crosschain, network } = chain
  const token = stablecoinNamed(network, movedSymbol)
  if (!crosschain || !token || network.environment !== config.crosschainEnvironment) return undefined
  return { chain, blockchain: network.blockchain, crosschain, token }
}

/** The end of this name; throws where the configuration no longer has it. */
export function requireEnd(ctx: EngineCtx, blockchain: string): RebalancingEnd {
  const chain = ctx.chains.find(blockchain)
  const end = chain && endOf(ctx, chain)
  if (!end)
    throw new Error(`coins cannot be moved to or from ${blockchain}: its contracts are not configured`)
  return end
}
