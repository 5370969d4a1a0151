import { networkOfBusinessChain } from '#chains/networks/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'

/**
 * The network that a chain code names in the key's environment, and the digits of the currency's token there; or the
 * documented error where nothing can be received or sent.
 */
export function requirePlace(ctx: Ctx, location: string, code: string, currency: string) {
  const named = networkOfBusinessChain(code, ctx.entity.environment)
  if (named?.family !== 'evm')
    throw invalid(location, 'names a chain on which this server cannot receive yet', code, 'chainUnsupported')
  const chain = ctx.chains.find(named.blockchain)
  const network = { ...(chain?.network ?? named), family: named.family }
  const token = network.tokens.find((candidate) => candidate.currency === currency)
  if (!token)
    throw invalid(
      location,
      `has no token of ${currency}: choose another chain`,
      code,
      'chainUnfitForCurrency',
    )
  if (!chain)
    throw invalid(
      location,
      `names ${named.blockchain}, to which this server is not connected`,
      code,
      'chainNotStarted',
    )
  return { network, decimals: token.decimals }
}
