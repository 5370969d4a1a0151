import type { Address } from '#chains/addresses/types'
import { type MessageToken, messageTokens } from '#chains/crosschain/message-tokens'
import { type NetworkToken, stablecoinNamed, tokenAddress } from '#chains/network'
import type { EngineCtx } from '#engines/ctx'
import { type MessageChain, messageChains } from './networks.ts'

/** A token with an id on one chain, and the contract there that moves it, and that takes it for that by an allowance. */
type PlacedToken = { chain: MessageChain; token: NetworkToken; address: Address; service: Address }

/** A token with an id, and the chains of this server between which it moves. */
export type MovedToken = MessageToken & { places: readonly PlacedToken[] }

/** The tokens other than USDC that move between the chains whose messages this server attests. */
export const movedTokens = (ctx: EngineCtx): MovedToken[] =>
  messageTokens[ctx.config.crosschainEnvironment].map((token) => ({
    ...token,
    places: messageChains(ctx).flatMap((chain) => placeOf(chain, token) ?? []),
  }))

function placeOf(chain: MessageChain, { symbol }: MessageToken): PlacedToken | undefined {
  const service = chain.crosschain.addresses.crossChainTokenService
  const token = stablecoinNamed(chain.chain.network, symbol)
  return token && service !== undefined ? { chain, token, address: tokenAddress(token), service } : undefined
}
