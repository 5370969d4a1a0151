/**
 * Creates a filter of repeated messages: returns true, and records the key, when it was not reported within the last `forMs`.
 * Keeps at most `keysMax` keys: the one reported longest ago is forgotten.
 */
export function createRepeatFilter(forMs: number, keysMax = 10_000): (what: string) => boolean {
  const saidMs = new Map<string, number>()
  return (what) => {
    const nowMs = performance.now()
    if (nowMs < (saidMs.get(what) ?? Number.NEGATIVE_INFINITY) + forMs) return false
    saidMs.delete(what)
    saidMs.set(what, nowMs)
    for (const oldest of saidMs.keys()) if (saidMs.size > keysMax) saidMs.delete(oldest)
    return true
  }
}
