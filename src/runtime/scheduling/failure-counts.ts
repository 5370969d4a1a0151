/** Number of failures of each key since its last success. */
type FailureCounts = {
  /** Counts a failure; returns the number so far. */
  failed(key: string): number
  /** Resets a key that succeeded or is finished. */
  ended(key: string): void
}

/** Creates a tally of at most `keysMax` keys: the one that has not failed for longest is forgotten. */
export function createFailureCounts(keysMax = 10_000): FailureCounts {
  const counts = new Map<string, number>()
  return {
    failed: (key) => {
      const count = (counts.get(key) ?? 0) + 1
      counts.delete(key)
      counts.set(key, count)
      for (const oldest of counts.keys()) if (counts.size > keysMax) counts.delete(oldest)
      return count
    },
    ended: (key) => void counts.delete(key),
  }
}
