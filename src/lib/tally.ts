/** How often things failed since they last went well. */
export type Tally = {
  /** It failed once more. Returns how often it has. */
  failed(key: string): number
  /** It went well, or is over. */
  ended(key: string): void
}

/** Keeps no more than `keysMax` keys: the one that has not failed for longest is forgotten. */
export function createTally(keysMax = 10_000): Tally {
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
