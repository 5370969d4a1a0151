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
