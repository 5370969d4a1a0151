import { onOtherEnvironment, unusableChain } from '#api/sources/usable-chains'
import { type Blockchain, environmentOf, isBlockchain, isVirtual } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'

/** Refuses a blockchain to which this program connects no server (155510): wallets there sign, and hold nothing that it knows of. */
export function requireChains(blockchain: Blockchain, at: string): void {
  const { keys, connects } = capabilitiesOf(blockchain)
  if (connects || keys === undefined || isVirtual(blockchain)) return
  throw invalid({
    at,
    reason: 'has wallets that only sign: this version reads no balances of it and sends nothing to it',
    value: blockchain,
    kind: 'blockchainUnsupportedForOperation',
  })
}

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
  requireChains(blockchain, 'blockchain')
  const chain = ctx.chains.find(blockchain)
  if (chain) return chain
  throw unusableChain(ctx, 'blockchain', blockchain, 'chainNotStarted')
}
