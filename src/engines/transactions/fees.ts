import type { Chain } from '#chains/chain'
import type { FeeSuggestion } from '#chains/facets/offers'
import type { Network } from '#chains/networks/index'
import { larger, smaller } from '#lib/amounts'
import type { Level } from './store/transactions.ts'

/** Prices of gas, in the smallest unit of the native coin. `maxFeeAtomic` is the gas price on chains without EIP-1559. */
export type Fee = { baseFeeAtomic: bigint; priorityFeeAtomic: bigint; maxFeeAtomic: bigint }

/** The maximum fee of one transaction: one whole native coin. */
export const feeMaxOf = ({ nativeToken }: Network): bigint => 10n ** BigInt(nativeToken.decimals)

/** Lifetime of a cached suggestion: a backlog must not query the node for each transaction. */
const freshMs = 1_000
const suggestions = new WeakMap<Chain, { atMs: number; suggestion: Promise<FeeSuggestion> }>()

/** `maxAgeMs`: 0 for decisions that must not use an outdated price. */
export function suggestedFees(chain: Chain, { maxAgeMs = freshMs } = {}): Promise<FeeSuggestion> {
  const known = suggestions.get(chain.shared)
  return known && performance.now() - known.atMs < maxAgeMs ? known.suggestion : currentFees(chain)
}

/** Queries the node, for decisions that must not use an outdated price. */
export function currentFees(chain: Chain): Promise<FeeSuggestion> {
  // Read for all askers, so that none of them waits for the turn of another.
  const suggestion = chain.shared.offers.fees()
  suggestions.set(chain.shared, { atMs: performance.now(), suggestion })
  // A failure is cached as long: a backlog must not repeat the query for each of its transactions either.
  suggestion.catch(() => undefined)
  return suggestion
}

/** Twice the base fee leaves room for six full blocks in a row before the cap is reached. */
export function feeAt(suggestion: FeeSuggestion, level: Level): Fee {
  const { baseFeeAtomic } = suggestion
  const priorityFeeAtomic = suggestion.priorityFeeAtomic[level]
  return { baseFeeAtomic, priorityFeeAtomic, maxFeeAtomic: 2n * baseFeeAtomic + priorityFeeAtomic }
}

/** The price that a block with this base fee takes of an offer; at least one. */
export function priceNow(
  { baseFeeAtomic }: Pick<FeeSuggestion, 'baseFeeAtomic'>,
  { maxFeeAtomic, priorityFeeAtomic }: Pick<Fee, 'maxFeeAtomic' | 'priorityFeeAtomic'>,
): bigint {
  const price = baseFeeAtomic + priorityFeeAtomic
  return larger(smaller(price, maxFeeAtomic), 1n)
}

/** The price plus a tenth, rounded up, and at least one: the minimum that nodes require of a replacement. */
const raised = (price: bigint): bigint => price + (price + 9n) / 10n + (price === 0n ? 1n : 0n)

/** Whether the chain suggests more than the offer, so that a node may refuse it for its price. */
export function isBelowSuggestion(
  offered: { maxFeeAtomic: bigint; priorityFeeAtomic: bigint },
  suggestion: FeeSuggestion,
): boolean {
  const { maxFeeAtomic, priorityFeeAtomic } = feeAt(suggestion, 'HIGH')
  return maxFeeAtomic > offered.maxFeeAtomic || priorityFeeAtomic > offered.priorityFeeAtomic
}

/** The price of a replacement: the HIGH level, and enough above the replaced attempt in both the cap and the tip. */
export function replacementFee(
  suggestion: FeeSuggestion,
  replaced: { maxFeeAtomic: bigint; priorityFeeAtomic: bigint },
): Fee {
  const { baseFeeAtomic, ...high } = feeAt(suggestion, 'HIGH')
  const priorityFeeAtomic = larger(high.priorityFeeAtomic, raised(replaced.priorityFeeAtomic))
  const capAtomic = larger(high.maxFeeAtomic, raised(replaced.maxFeeAtomic))
  return { baseFeeAtomic, priorityFeeAtomic, maxFeeAtomic: larger(capAtomic, priorityFeeAtomic) }
}
