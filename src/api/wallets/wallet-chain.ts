import { onOtherEnvironment, unusableChain } from '#api/usable-chains'
import { type Blockchain, environmentOf, isVirtual } from '#chains/blockchains'
import type { WalletChain } from '#custody/index'
import type { Ctx } from '#engines/ctx'

/**
 * Whether wallets can be made on the blockchain: the key's environment (156006), and a chain this server is connected
 * to (155511), because what arrives on one it does not watch would go unseen. `field` names the request's field.
 */
export function requireWalletChain(ctx: Ctx, blockchain: Blockchain, field: string): WalletChain {
  if (environmentOf(blockchain) !== ctx.entity.environment) throw onOtherEnvironment(ctx, field, blockchain)
  if (isVirtual(blockchain)) return { blockchain, onChain: false }
  if (!ctx.chains.find(blockchain)) throw unusableChain(ctx, field, blockchain, 'blockchainUnavailable')
  return { blockchain, onChain: true }
}
