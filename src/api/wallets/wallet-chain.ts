import { onOtherEnvironment, unusableChain } from '#api/sources/usable-chains'
import { type Blockchain, environmentOf, isVirtual } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import type { WalletChain } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'

/**
 * Requires a blockchain on which wallets can be created: of the key's environment (156006) and, if this program connects to such
 * chains, connected to this server (155511), because deposits on an unwatched chain would go unseen. `field` names the request's field.
 */
export function requireWalletChain(ctx: Ctx, blockchain: Blockchain, field: string): WalletChain {
  if (environmentOf(blockchain) !== ctx.entity.environment) throw onOtherEnvironment(ctx, field, blockchain)
  const { keys: family, connects } = capabilitiesOf(blockchain)
  const onChain = !isVirtual(blockchain)
  if (!family || (connects && !ctx.chains.find(blockchain)))
    throw unusableChain(ctx, field, blockchain, 'blockchainUnavailable')
  return { blockchain, family, onChain }
}
