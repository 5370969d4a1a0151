import type { Chain, Chains } from '#chains/chain'
import type { Crosschain } from '#chains/crosschain/crosschain'
import type { Scope } from '#runtime/scope'

/** A chain whose messages this server attests. */
export type MessageChain = { chain: Chain; blockchain: string; domain: number; crosschain: Crosschain }

type AttestingScope = Scope & { chains: Chains }

/** The chain, if it has messages and belongs to the environment that this server answers for. */
export function messageChainOf({ config }: Scope, chain: Chain): MessageChain | undefined {
  const { crosschain, network } = chain
  if (!crosschain || network.environment !== config.crosschainEnvironment) return undefined
  return { chain, blockchain: network.blockchain, domain: crosschain.domain, crosschain }
}

/** The chains whose messages this server attests. */
export const messageChains = (ctx: AttestingScope): MessageChain[] =>
  ctx.chains.list().flatMap((chain) => messageChainOf(ctx, chain) ?? [])
