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
  if (known && performance.now() - known.atMs < freshMs) return known.suggestion
  const suggestion = chain.fees()
  suggestions.set(chain, { atMs: performance.now(), suggestion })
  suggestion.catch(() => suggestions.delete(chain))
  return suggestion
}

/** Twice the base fee leaves room for six full blocks in a row before the cap is reached. */
export function feeAt(suggestion: FeeSuggestion, level: Level): Fee {
  const { baseFeeAtomic } = suggestion
  const priorityFeeAtomic = suggestion.priorityFeeAtomic[level]
  return { baseFeeAtomic, priorityFeeAtomic, maxFeeAtomic: 2n * baseFeeAtomic + priorityFeeAtomic }
}
