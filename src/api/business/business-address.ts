import {
  addressTagProblem,
  type BusinessChain,
  currenciesOf,
  isUnpayable,
  parseBusinessAddress,
} from '#chains/business-chains'
import { stablecoinsOf } from '#chains/network'
import { networkOfBusinessChain } from '#chains/networks/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'

/** The address in stored form, or the documented error: invalid on the chain, or not payable. */
export function readAddress(ctx: Ctx, chain: BusinessChain, text: string, location = 'address'): string {
  const { environment } = ctx.entity
  const address = parseBusinessAddress(chain, text, environment)
  if (address === undefined)
    throw invalid({
      at: location,
      reason: `is not a valid address on ${chain}`,
      value: text,
      kind: 'addressUnfitForChain',
      error: 'pattern_mismatch',
    })
  if (isUnpayable(chain, address, environment))
    throw invalid({
      at: location,
      reason: 'has no owner: coins sent there are lost',
      value: text,
      kind: 'addressUnpayable',
    })
  return address
}

/** The memo or tag beside an address; clients send an empty string for none. */
export function readAddressTag(chain: BusinessChain, tag: string | null | undefined): string | null {
  if (!tag) return null
  const problem = addressTagProblem(chain, tag)
  if (problem) throw invalid({ at: 'addressTag', reason: problem, value: tag })
  return tag
}

/** The currency, or the documented error where the chain does not carry it. Local chains carry those of their tokens. */
export function requireCurrency(ctx: Ctx, chain: BusinessChain, currency: string): string {
  const named = networkOfBusinessChain(chain, ctx.entity.environment)
  const network = named && (ctx.chains.find(named.blockchain)?.network ?? named)
  const carried: readonly string[] = [
    ...currenciesOf(chain),
    ...(network ? stablecoinsOf(network) : []).map((token) => token.currency),
    ...(chain === 'BTC' ? ['BTC'] : []),
  ]
  if (carried.includes(currency)) return currency
  throw invalid({
    at: 'currency',
    reason: `is not available on ${chain}`,
    value: currency,
    kind: 'chainUnfitForCurrency',
  })
}
