/** Runs `work` on the first call, and caches its result. Work that throws runs again on the next call. */
export function once<Result>(work: () => Result): () => Result {
  let done: { result: Result } | undefined
  return () => (done ??= { result: work() }).result
}

/** Computes `of(object)` on first use, and caches the result for the lifetime of the object. */
export function oncePer<Key extends object, Value>(of: (object: Key) => Value): (object: Key) => Value {
  const known = new WeakMap<Key, { value: Value }>()
  return (object) => {
    let kept = known.get(object)
    if (!kept) known.set(object, (kept = { value: of(object) }))
    return kept.value
  }
}

/** Does the same as `once` for asynchronous work: work that fails runs again on the next call. */
export function succeedOnce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | undefined
  const again = (error: unknown) => {
    done = undefined
    throw error
  }
  return () => (done ??= work().catch(again))
}

/** Runs `work` once for all calls made before it begins, and never twice at a time. */
export function shareNext<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | undefined
  return () => {
    if (next) return next
    next = last.then(() => {
      next = undefined
      return work()
    })
    last = next.catch(() => undefined)
    return next
  }
}

/**
 * Shares the result of `work` among all calls with the same key while it runs, and for `keptMs` after it ended,
 * whether it succeeded or failed.
 */
export function keptFor<Key extends object, Result>(
  keptMs: number,
): (key: Key, work: () => Promise<Result>) => Promise<Result> {
  const known = new WeakMap<Key, { untilMs: number; result: Promise<Result> }>()
  return (key, work) => {
    const kept = known.get(key)
    if (kept && performance.now() < kept.untilMs) return kept.result
    const made = { untilMs: Number.POSITIVE_INFINITY, result: work() }
    const ended = () => void (made.untilMs = performance.now() + keptMs)
    made.result.then(ended, ended)
    known.set(key, made)
    return made.result
  }
}
