import { addressForm, parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { stablecoinNamed, type TokenSymbol, tokenAddress } from '#chains/network'
import type { EngineCtx } from '#engines/ctx'
import { parseAmount } from '#lib/amounts'
import { ApiError, invalid } from '#lib/errors'

export const coins = ['NATIVE', 'USDC', 'EURC'] as const
export type Coin = (typeof coins)[number]

/** More than exists of any currency, and far below the numbers at which a contract overflows. */
const wholeMax = 10n ** 12n

export function engineChain({ chains }: Pick<EngineCtx, 'chains'>, blockchain: string): Chain {
  const chain = chains.find(blockchain)
  if (!chain) throw new ApiError('chainNotStarted')
  return chain
}

export function addressOf({ network }: Chain, at: string, text: string): Address {
  const address = parseAddress(network.blockchain, text)
  if (address && !/^0x0+$/.test(address)) return address
  throw invalid({
    at,
    reason: `must be an address of ${network.blockchain}, and not zero: ${addressForm(network.blockchain)}`,
    value: text,
  })
}

/** The contract of a stablecoin, undefined of the native coin, and the decimals of either. */
export function coinOf({ network }: Chain, coin: Coin): { token: Address | undefined; decimals: number } {
  if (coin === 'NATIVE') return { token: undefined, decimals: network.nativeToken.decimals }
  const symbol: TokenSymbol = coin
  const found = stablecoinNamed(network, symbol)
  if (!found) throw new ApiError('chainUnfitForCurrency', `${network.blockchain} has no ${coin}.`)
  return { token: tokenAddress(found), decimals: found.decimals }
}

/** Returns an amount in whole coins as base units. */
export function atomicOf(at: string, text: string, decimals: number): bigint {
  const atomic = parseAmount(text, decimals)
  if (typeof atomic === 'bigint' && atomic > 0n && atomic <= wholeMax * 10n ** BigInt(decimals)) return atomic
  throw invalid({
    at,
    reason: `must be a decimal number of whole coins above 0 and up to ${wholeMax}, with at most ${decimals} decimals, such as "20.5"`,
    value: text,
  })
}
