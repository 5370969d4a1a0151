import { onOtherEnvironment, unusableChain } from '#api/sources/usable-chains'
import { environmentOf, isBlockchain, isVirtual } from '#chains/blockchains'
import type { Chain } from '#chains/chain'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'

/** The connected chain of that name, reachable with this kind of API key. */
export function requireChain(ctx: Ctx, blockchain: string): Chain {
  if (!isBlockchain(blockchain))
    throw invalid({ at: 'blockchain', reason: 'is not a known blockchain', value: blockchain })
  if (environmentOf(blockchain) !== ctx.entity.environment)
    throw onOtherEnvironment(ctx, 'blockchain', blockchain)
  if (isVirtual(blockchain))
    throw invalid({
      at: 'blockchain',
      reason: 'is for signing only: it has no chain to send to',
      value: blockchain,
      kind: 'blockchainUnsupportedForOperation',
    })
  const chain = ctx.chains.find(blockchain)
  if (chain) return chain
  throw unusableChain(ctx, 'blockchain', blockchain, 'chainNotStarted')
}
