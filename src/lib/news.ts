/**
 * Tells whether something was not said within the last `forMs`; if so, it counts as said now. Keeps no more than `keysMax`
 * things: the one that was said longest ago is forgotten.
 */
export function createNews(forMs: number, keysMax = 10_000): (what: string) => boolean {
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
