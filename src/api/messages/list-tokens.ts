import { fastAmountMax, movedTokens, usedAllowance } from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { isHex } from '#lib/hex'

/** The tokens other than USDC that messages move here, with the contracts of each chain. */
export const listMovedTokens = (ctx: Ctx) => ({
  data: movedTokens(ctx).flatMap(({ id: tokenId, symbol, places }) => {
    const [first] = places
    if (!first) return []
    const { name, decimals } = first.token
    const deployments = places.map(({ chain, token, service }) => ({
      tokenId,
      domainId: chain.domain,
      tokenAddress: token.address,
      tokenManagerAddress: service,
    }))
    return [{ tokenId, name, symbol, decimals, deployments }]
  }),
})

const idsMax = 50

/**
 * How much of each of these tokens one burn can have attested before it is final now, in whole tokens. All tokens share one
 * allowance, in which a coin of each counts alike. Unknown ids are left out.
 */
export async function listTokenAllowances(ctx: Ctx, { tokenIds: given }: { tokenIds: string }) {
  const ids = new Set(given.toLowerCase().split(','))
  if (ids.size > idsMax || [...ids].some((id) => !isHex(id, 32)))
    throw invalid({
      at: 'tokenIds',
      reason: `must be ids of tokens with commas between them, each of 32 bytes in hexadecimal digits, at most ${idsMax}`,
      value: given,
    })
  const { config, db } = ctx
  const left = config.fastAllowanceAtomic - (await usedAllowance(db, config.crosschainEnvironment))
  const most = fastAmountMax(config)
  const free = left < 0n ? 0n : left < most ? left : most
  const asked = movedTokens(ctx).filter(({ id, places }) => ids.has(id) && places.length > 0)
  return {
    allowances: asked.map(({ id: tokenId, symbol: tokenSymbol, places }) => ({
      tokenId,
      tokenSymbol,
      allowance: Number(free) / 10 ** places[0]!.token.decimals,
    })),
  }
}
