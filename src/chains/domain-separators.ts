import type { Hex } from '#lib/hex'
import { oncePer } from '#runtime/scheduling/memoize'
import type { Address } from './addresses/types.ts'
import type { Chain } from './chain.ts'
import { authorizationsOn } from './facets/optional.ts'

const knownOn = oncePer((_shared: Chain) => new Map<Address, Hex>())

/** The EIP-712 domain separator of a token, part of every digest signed for it. It never changes, and is asked for once. */
export async function domainSeparatorOf(chain: Chain, token: Address): Promise<Hex> {
  const known = knownOn(chain.shared)
  const separator = known.get(token) ?? (await authorizationsOn(chain).domainSeparatorOf(token))
  known.set(token, separator)
  return separator
}
