/** Runs a bounded number of tasks at once; askers take turns, regardless of the number of tasks that each has queued. */
export type Lanes = {
  /** Runs `work` at the turn of `asker`, and passes it its lane. Parts of an asker, such as its users, take turns as well. */
  run<Result>(asker: string, work: (lane: number) => Promise<Result>, part?: string): Promise<Result>
  /** Number of tasks that wait for their turn. */
  waiting(): number
}

export type LaneLimits = {
  /** Maximum number of tasks that run at once. */
  count: number
  /** Whether an asker gets another lane only while more lanes are free than it holds: for work that may block. */
  leavesRoom: boolean
  /** Maximum number of waiting tasks. */
  waitingMax: number
  /** Maximum wait of a task. */
  waitMs: number
  /** Creates the error for a refused task. */
  crowded: () => Error
}

/**
 * Creates lanes. When the queue is full, the asker with the most waiting tasks loses the latest one of its busiest part, so
 * that a busy asker displaces only its own tasks, and a busy part those of itself.
 */
export function createLanes({ count, leavesRoom, waitingMax, waitMs, crowded }: LaneLimits): Lanes {
  const free = Array.from({ length: count }, (_, lane) => lane)
  const taken = new Map<string, number>()
  const queues = createQueues()

  const takenBy = (asker: string) => taken.get(asker) ?? 0
  const mayTake = (asker: string) => free.length > (leavesRoom ? takenBy(asker) : 0)
  const take = (asker: string): number => {
    taken.set(asker, takenBy(asker) + 1)
    return free.pop()!
  }

  const turnAway = (each: LaneRequest) => {
    queues.remove(each)
    each.refuse(crowded())
  }

  const wait = (asker: string, part: string) => {
    if (queues.length() >= waitingMax) {
      const noisy = queues.noisiest(asker)
      if (noisy.asker === asker && queues.lengthOf(asker, part) >= queues.lengthOf(asker, noisy.part))
        throw crowded()
      turnAway(noisy)
    }
    return new Promise<number>((resume, refuse) => {
      const timer = setTimeout(() => turnAway(each), waitMs)
      const each: LaneRequest = { asker, part, resume, refuse, timer }
      queues.add(each)
    })
  }

  const giveBack = (asker: string, lane: number) => {
    free.push(lane)
    if (takenBy(asker) > 1) taken.set(asker, takenBy(asker) - 1)
    else taken.delete(asker)
    for (let next = queues.shift(mayTake); next; next = queues.shift(mayTake)) {
      next.resume(take(next.asker))
    }
  }

  return {
    run: async (asker, work, part = '') => {
      const lane = mayTake(asker) ? take(asker) : await wait(asker, part)
      try {
        return await work(lane)
      } finally {
        giveBack(asker, lane)
      }
    },
    waiting: queues.length,
  }
}

type LaneRequest = {
  asker: string
  part: string
  resume(lane: number): void
  refuse(error: Error): void
  timer: NodeJS.Timeout
}

const longest = (names: Iterable<string>, lengthOf: (name: string) => number): string =>
  [...names].reduce((most, name) => (lengthOf(name) > lengthOf(most) ? name : most))

/** Creates the queues of the parts of each asker, in the order of turns: who was served goes to the end. */
function createQueues() {
  const askers = new Map<string, Map<string, LaneRequest[]>>()
  let length = 0
  const lengthOf = (asker: string, part?: string) => {
    const parts = askers.get(asker)
    if (part !== undefined) return parts?.get(part)?.length ?? 0
    return [...(parts?.values() ?? [])].reduce((sum, queue) => sum + queue.length, 0)
  }
  const remove = (each: LaneRequest) => {
    clearTimeout(each.timer)
    length -= 1
    const parts = askers.get(each.asker)!
    const queue = parts.get(each.part)!
    queue.splice(queue.indexOf(each), 1)
    if (queue.length === 0) parts.delete(each.part)
    if (parts.size === 0) askers.delete(each.asker)
  }
  return {
    length: () => length,
    lengthOf,
    /** The latest task of the part with the most, of the asker with the most; of `asker` where none has more. */
    noisiest: (asker: string): LaneRequest => {
      const noisy = longest(askers.keys(), (name) => lengthOf(name))
      const most = lengthOf(noisy) > lengthOf(asker) ? noisy : asker
      const parts = askers.get(most)!
      return parts.get(longest(parts.keys(), (part) => lengthOf(most, part)))!.at(-1)!
    },
    add: (each: LaneRequest) => {
      length += 1
      const parts = askers.get(each.asker) ?? new Map<string, LaneRequest[]>()
      const queue = parts.get(each.part) ?? []
      queue.push(each)
      parts.set(each.part, queue)
      askers.set(each.asker, parts)
    },
    remove,
    /** Removes the first task of the first asker that may be served. */
    shift: (mayBeServed: (asker: string) => boolean): LaneRequest | undefined => {
      for (const [asker, parts] of askers) {
        if (!mayBeServed(asker)) continue
        const [part, queue] = [...parts][0]!
        const each = queue[0]!
        remove(each)
        if (parts.delete(part)) parts.set(part, queue)
        if (askers.delete(asker)) askers.set(asker, parts)
        return each
      }
      return undefined
    },
  }
}
