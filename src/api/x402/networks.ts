import type { Blockchain } from '#chains/blockchains'
import type { Chain, Chains } from '#chains/chain'
import { networkIdOf } from '#chains/chain-ids'
import { hasFacet } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'

/** The chains on which this key settles signed payments. */
export const settlingChains = ({ chains, entity }: Ctx): Chain[] => settlingIn(chains, entity)

const settlingIn = (chains: Chains, { environment }: Ctx['entity']): Chain[] =>
  chains
    .list()
    .filter((chain) => hasFacet(chain, 'authorizations') && chain.network.environment === environment)

/** The names of a chain, with the version that each belongs to: names of its own in the first, ids of CAIP-2 in the second. */
export const namesOf = ({ network }: Chain): { x402Version: number; network: string }[] => [
  { x402Version: 2, network: networkIdOf(network.blockchain as Blockchain) },
  ...(network.x402Name === undefined ? [] : [{ x402Version: 1, network: network.x402Name }]),
]

/** The chain that a name means in a version. */
export function chainNamed({ chains, entity }: Ctx, version: number, name: string): Chain | undefined {
  // The chains of an asker are made when they are named, so no others are.
  const named = settlingIn(chains.shared, entity).find((chain) =>
    namesOf(chain).some(({ x402Version, network }) => x402Version === version && network === name),
  )
  return named && chains.find(named.network.blockchain)
}
