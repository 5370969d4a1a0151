import type { Restores } from '#engines/audit/index'

/** Tells the readers of event streams that another state has taken the place of the one that they follow. */
type RestoreTeller = Restores & { tell(snapshot: string): void }

export function openRestores(): RestoreTeller {
  const listeners = new Set<() => void>()
  let last: ReturnType<Restores['last']>
  return {
    last: () => last,
    hear: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    tell: (snapshot) => {
      last = { count: (last?.count ?? 0) + 1, snapshot }
      for (const listener of listeners) listener()
    },
  }
}
