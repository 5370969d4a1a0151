/** Amounts that callers may use within a time, by name: token buckets, each full at first. */
type Budgets = {
  /** Whether something is left of each of these. */
  hasLeft(names: readonly string[]): boolean
  /** Takes an amount from each of these. What is known only afterwards may be more than there was. */
  spend(names: readonly string[], amount: number): void
}

type BudgetLimits = { perSecond: number; burst: number; now?: () => number }

/** Number of buckets above which half of them are forgotten, those first that were used longest ago. */
const keptMax = 10_000

export function createBudgets({ perSecond, burst, now = () => performance.now() }: BudgetLimits): Budgets {
  const known = new Map<string, { left: number; atMs: number }>()
  const leftOf = (name: string): number => {
    const bucket = known.get(name)
    if (!bucket) return burst
    return Math.min(burst, bucket.left + ((now() - bucket.atMs) / 1_000) * perSecond)
  }
  return {
    hasLeft: (names) => names.every((name) => leftOf(name) > 0),
    spend: (names, amount) => {
      // No lower than a burst below zero: a caller is never refused for longer than two bursts take to refill.
      for (const name of names) {
        const left = Math.max(-burst, leftOf(name) - amount)
        known.delete(name)
        known.set(name, { left, atMs: now() })
      }
      if (known.size <= keptMax) return
      for (const name of known.keys()) {
        if (known.size <= keptMax / 2) return
        known.delete(name)
      }
    },
  }
}
