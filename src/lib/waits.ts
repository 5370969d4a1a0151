/** When things that failed are tried again. */
export type Waits = {
  isDue(key: string): boolean
  /** It failed, and rests twice as long as the last time. Returns how often it failed in a row. */
  failed(key: string): number
  /** It failed no longer. */
  ended(key: string): void
}

/** Keeps no more than `keysMax` keys: the one that was kept longest is forgotten, and so is due at once. */
export function createWaits(ms: { first: number; most: number }, keysMax = 10_000): Waits {
  const waits = new Map<string, { failures: number; untilMs: number }>()
  return {
    isDue: (key) => (waits.get(key)?.untilMs ?? 0) <= performance.now(),
    failed: (key) => {
      const failures = (waits.get(key)?.failures ?? 0) + 1
      const restMs = Math.min(ms.most, ms.first * 2 ** Math.min(failures - 1, 30))
      waits.delete(key)
      waits.set(key, { failures, untilMs: performance.now() + restMs })
      for (const oldest of waits.keys()) if (waits.size > keysMax) waits.delete(oldest)
      return failures
    },
    ended: (key) => void waits.delete(key),
  }
}
