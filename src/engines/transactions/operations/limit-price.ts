import type { FeeSuggestion } from '#chains/facets/offers'
import { larger } from '#lib/amounts'
import { feeAt } from '../fees.ts'

/** Multiple of the price at HIGH that a sponsor pays at most: clients double the price that they read. */
const priceTimesMax = 3n

/**
 * The highest price of an operation that a sponsor signs. Blocks pass between the price that a client reads and its request, and on a
 * quiet chain each of them lowers the base fee by an eighth: the highest one of recent blocks counts.
 */
export function sponsoredPriceMax(suggestion: FeeSuggestion): bigint {
  const { baseFeeAtomic, recentBaseFeeAtomic = baseFeeAtomic } = suggestion
  const high = feeAt({ ...suggestion, baseFeeAtomic: larger(baseFeeAtomic, recentBaseFeeAtomic) }, 'HIGH')
  return larger(priceTimesMax * high.maxFeeAtomic, 1n)
}
