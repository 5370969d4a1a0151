/** Computes `of(object)` when it is first asked for, and keeps the result as long as the object. */
export function oncePer<Key extends object, Value>(of: (object: Key) => Value): (object: Key) => Value {
  const known = new WeakMap<Key, { value: Value }>()
  return (object) => {
    let kept = known.get(object)
    if (!kept) known.set(object, (kept = { value: of(object) }))
    return kept.value
  }
}

/** Does `work` when it is first asked for, and keeps the result. Work that fails is done again when it is asked for again. */
export function succeedOnce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | undefined
  const again = (error: unknown) => {
    done = undefined
    throw error
  }
  return () => (done ??= work().catch(again))
}

/** Does `work` once for all who ask before it begins, and never twice at a time. */
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
 * Shares the result of `work` among all who ask for the same key while it is under way, and for `keptMs` after it ended,
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
