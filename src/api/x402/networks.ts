import type { Blockchain } from '#chains/blockchains'
import type { Chain } from '#chains/chain'
import { networkIdOf } from '#chains/chain-ids'
import { hasFacet } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'

/** The chains on which this key settles signed payments. */
export const settlingChains = (ctx: Ctx): Chain[] =>
  ctx.chains
    .list()
    .filter(
      (chain) => hasFacet(chain, 'authorizations') && chain.network.environment === ctx.entity.environment,
    )

/** The names of a chain, with the version that each belongs to: names of its own in the first, ids of CAIP-2 in the second. */
export const namesOf = ({ network }: Chain): { x402Version: number; network: string }[] => [
  { x402Version: 2, network: networkIdOf(network.blockchain as Blockchain) },
  ...(network.x402Name === undefined ? [] : [{ x402Version: 1, network: network.x402Name }]),
]

/** The chain that a name means in a version. */
export const chainNamed = (ctx: Ctx, version: number, name: string): Chain | undefined =>
  settlingChains(ctx).find((chain) =>
    namesOf(chain).some(({ x402Version, network }) => x402Version === version && network === name),
  )
