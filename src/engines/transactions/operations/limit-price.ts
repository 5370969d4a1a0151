import type { FeeSuggestion } from '#chains/facets/offers'
import { larger } from '#lib/amounts'
import { feeAt } from '../fees.ts'

/**
 * Multiple of the price at HIGH that a sponsor pays at most. Clients double the price that they read, and blocks pass until they
 * send.
 */
const priceTimesMax = 3n

/** The highest price of an operation that a sponsor signs. */
export const sponsoredPriceMax = (suggestion: FeeSuggestion): bigint =>
  larger(priceTimesMax * feeAt(suggestion, 'HIGH').maxFeeAtomic, 1n)
