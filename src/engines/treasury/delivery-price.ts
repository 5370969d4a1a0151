/**
 * Prices the gas of transactions that a treasury sends for others, in base units of USDC: by a table, from which fees follow that
 * every attester computes alike, and by what the chain takes now, so that a transaction which costs more than its fee waits.
 */
import type { Chain } from '#chains/chain'
import { networkOfDomain } from '#chains/networks/index'
import type { EngineCtx } from '#engines/ctx'
import { feeAt, priceNow, suggestedFees } from '#engines/transactions/index'

const million = 1_000_000n
const perCent = 100n

/** Price of a million gas by domain, with room above what the chains usually take. */
const prices: Readonly<Record<number, bigint>> = {
  0: 10_000_000n,
  1: 100_000n,
  2: 7_500n,
  3: 50_000n,
  6: 50_000n,
  7: 7_500n,
  10: 5_000n,
}
const otherPrice = 50_000n

const roundedUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

/** The fee for gas on the chain of a domain. */
export const gasFeeAt = (domain: number, gas: bigint): bigint =>
  roundedUp(gas * (prices[domain] ?? otherPrice), million)

/** Room above the price of now, in percent: a block includes the transaction later. */
const marginPercent = 25n

/** Cost of a million gas on a chain now, in base units of USDC; 0 where its coin has no price. */
export async function gasPriceNow({ config }: Pick<EngineCtx, 'config'>, chain: Chain): Promise<bigint> {
  const { nativeToken, environment } = chain.network
  const coinAtomic =
    config.coinPrices.get(nativeToken.symbol) ?? usualPriceOf(nativeToken.symbol, environment)
  if (coinAtomic === 0n) return 0n
  const suggestion = await suggestedFees(chain)
  const price = priceNow(suggestion, feeAt(suggestion, 'MEDIUM'))
  const wholeCoin = 10n ** BigInt(nativeToken.decimals)
  return roundedUp(million * price * coinAtomic * (perCent + marginPercent), wholeCoin * perCent)
}

/** Prices of coins in base units of USDC where the operator sets none, above those of most days. */
const usualCoinPrices: Readonly<Record<string, bigint>> = {
  ETH: 5_000n * million,
  AVAX: 60n * million,
  USDC: million,
  MATIC: million,
  POL: million,
}

/**
 * Amount of the native coin of a chain that a fee in base units of USDC is, in the smallest unit of the coin; `undefined` where the coin has no price.
 * A stablecoin is its own price. That of other coins on main networks is the operator's: by the usual one, which has room above most
 * days, fees would be too low. Coins of test networks stand for those of the main network.
 */
export function nativeFee(
  { config }: Pick<EngineCtx, 'config'>,
  { network }: Chain,
  feeAtomic: bigint,
): bigint | undefined {
  const { nativeToken, environment, domain } = network
  const main = environment === 'TEST' && domain !== undefined ? networkOfDomain('LIVE', domain) : undefined
  const coinAtomic = nativeToken.contract
    ? million
    : (config.coinPrices.get(nativeToken.symbol) ?? (main && usualCoinPrices[main.nativeToken.symbol]))
  if (!coinAtomic) return undefined
  return roundedUp(feeAtomic * 10n ** BigInt(nativeToken.decimals), coinAtomic)
}

/** Coins of test networks cost nothing. */
const usualPriceOf = (symbol: string, environment: 'TEST' | 'LIVE'): bigint =>
  environment === 'LIVE' ? (usualCoinPrices[symbol] ?? 0n) : 0n
