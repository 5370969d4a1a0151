import type { Chain, FeeSuggestion } from '#chains/chain'
import type { Level } from './store/transactions.ts'

/** Fees per gas, in wei. `maxFeeAtomic` is the gas price on chains without EIP-1559. */
export type Fee = { baseFeeAtomic: bigint; priorityFeeAtomic: bigint; maxFeeAtomic: bigint }

/** The most that one transaction's fee may come to: one whole native coin. */
export const feeMaxAtomic = 10n ** 18n

/** How long a suggestion is good for: a backlog must not ask for each transaction. */
const freshMs = 1_000
const suggestions = new WeakMap<Chain, { atMs: number; suggestion: Promise<FeeSuggestion> }>()

export function suggestedFees(chain: Chain): Promise<FeeSuggestion> {
  const known = suggestions.get(chain)
  return known && performance.now() - known.atMs < freshMs ? known.suggestion : currentFees(chain)
}

/** As the chain says now: for what must not rest on a price that has changed since. */
export function currentFees(chain: Chain): Promise<FeeSuggestion> {
  const suggestion = chain.fees()
  suggestions.set(chain, { atMs: performance.now(), suggestion })
  // A failure is kept as long: a backlog must not ask again for each of its transactions either.
  suggestion.catch(() => undefined)
  return suggestion
}

/** Twice the base fee leaves room for six full blocks in a row before the cap is reached. */
export function feeAt(suggestion: FeeSuggestion, level: Level): Fee {
  const { baseFeeAtomic } = suggestion
  const priorityFeeAtomic = suggestion.priorityFeeAtomic[level]
  return { baseFeeAtomic, priorityFeeAtomic, maxFeeAtomic: 2n * baseFeeAtomic + priorityFeeAtomic }
}

/** A tenth more, rounded up, and at least one: what nodes ask of a replacement before they let go of what they hold. */
const raised = (price: bigint): bigint => price + (price + 9n) / 10n + (price === 0n ? 1n : 0n)

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)

/** Whether what the chain suggests is more than this offers: then it may be refused for its price. */
export function isOutpriced(
  offered: { maxFeeAtomic: bigint; priorityFeeAtomic: bigint },
  suggestion: FeeSuggestion,
): boolean {
  const { maxFeeAtomic, priorityFeeAtomic } = feeAt(suggestion, 'HIGH')
  return maxFeeAtomic > offered.maxFeeAtomic || priorityFeeAtomic > offered.priorityFeeAtomic
}

/** The price of a replacement: the highest level, and enough above what it replaces in both the cap and the tip. */
export function replacementFee(
  suggestion: FeeSuggestion,
  replaced: { maxFeeAtomic: bigint; priorityFeeAtomic: bigint },
): Fee {
  const { baseFeeAtomic, ...high } = feeAt(suggestion, 'HIGH')
  const priorityFeeAtomic = larger(high.priorityFeeAtomic, raised(replaced.priorityFeeAtomic))
  const capAtomic = larger(high.maxFeeAtomic, raised(replaced.maxFeeAtomic))
  return { baseFeeAtomic, priorityFeeAtomic, maxFeeAtomic: larger(capAtomic, priorityFeeAtomic) }
}
