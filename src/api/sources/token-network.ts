import { capabilitiesOf } from '#chains/capabilities'
import { stablecoinIn } from '#chains/network'
import { networkOfBusinessChain } from '#chains/networks/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { unusableCode } from './usable-chains.ts'

/**
 * The network that a chain code names in the key's environment, and the digits of the currency's token there; or the
 * documented error where nothing can be received or sent. `currencyLocation`: the field to blame where the chain has no token
 * of the currency, and the request cannot choose another chain.
 */
export function requireTokenNetwork(
  ctx: Ctx,
  location: string,
  code: string,
  currency: string,
  currencyLocation?: string,
) {
  const named = networkOfBusinessChain(code, ctx.entity.environment)
  const { keys, businessAccount } = named ? capabilitiesOf(named.blockchain) : {}
  if (!named || !keys || !businessAccount) throw unusableCode(ctx, location, code, named)
  const chain = ctx.chains.find(named.blockchain)
  const network = { ...(chain?.network ?? named), family: keys }
  const token = stablecoinIn(network, currency)
  if (!token && currencyLocation !== undefined)
    throw invalid({
      at: currencyLocation,
      reason: `has no token on ${code}, the chain of the destination: choose another currency or destination`,
      value: currency,
      kind: 'chainUnfitForCurrency',
    })
  if (!token)
    throw invalid({
      at: location,
      reason: `has no token of ${currency}: choose another chain`,
      value: code,
      kind: 'chainUnfitForCurrency',
    })
  if (!chain) throw unusableCode(ctx, location, code, named)
  return { network, decimals: token.decimals }
}
