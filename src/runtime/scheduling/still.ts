/** Work that runs at any time beside its like, and work that runs while none of that is under way. */
type Stillness = {
  /** Runs `work` beside other such work; first waits for the work in stillness that runs or waits. */
  moving<Result>(work: () => Promise<Result>): Promise<Result>
  /** Runs `work` once no moving work is under way, and holds up what comes meanwhile. One at a time. */
  still<Result>(work: () => Promise<Result>): Promise<Result>
}

export function createStillness(): Stillness {
  const underWay = new Set<Promise<unknown>>()
  let stillness: Promise<unknown> | undefined
  return {
    moving: async (work) => {
      while (stillness) await stillness
      const moved = work()
      const ended = moved.catch(() => undefined)
      underWay.add(ended)
      void ended.then(() => underWay.delete(ended))
      return moved
    },
    still: async (work) => {
      while (stillness) await stillness
      const done = Promise.all(underWay).then(work)
      stillness = done.catch(() => undefined)
      return done.finally(() => {
        stillness = undefined
      })
    },
  }
}
