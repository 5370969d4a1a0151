import { onOtherEnvironment, unusableChain } from '#api/usable-chains'
import { type Blockchain, environmentOf, isVirtual } from '#chains/blockchains'
import type { WalletChain } from '#custody/index'
import type { Ctx } from '#engines/ctx'

/**
 * Requires a blockchain on which wallets can be created: of the key's environment (156006), and connected to this server
 * (155511), because deposits on an unwatched chain would go unseen. `field` names the request's field.
 */
export function requireWalletChain(ctx: Ctx, blockchain: Blockchain, field: string): WalletChain {
  if (environmentOf(blockchain) !== ctx.entity.environment) throw onOtherEnvironment(ctx, field, blockchain)
  if (isVirtual(blockchain)) return { blockchain, onChain: false }
  if (!ctx.chains.find(blockchain)) throw unusableChain(ctx, field, blockchain, 'blockchainUnavailable')
  return { blockchain, onChain: true }
}
