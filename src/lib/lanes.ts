/** Runs a bounded number of tasks at once; askers take turns, regardless of the number of tasks that each has queued. */
export type Lanes = {
  /** Runs `work` at the turn of `asker`, and passes it its lane. */
  run<Result>(asker: string, work: (lane: number) => Promise<Result>): Promise<Result>
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
 * Creates lanes. When the queue is full, the asker with the most waiting tasks loses its latest one, so that a busy asker
 * displaces only its own tasks.
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

  const turnAway = (asker: string, each: LaneRequest) => {
    queues.remove(asker, each)
    each.refuse(crowded())
  }

  const wait = (asker: string) => {
    if (queues.length() >= waitingMax) {
      const [noisiest, queue] = queues.longest()
      if (queue.length <= queues.lengthOf(asker)) throw crowded()
      turnAway(noisiest, queue.at(-1)!)
    }
    return new Promise<number>((resume, refuse) => {
      const each: LaneRequest = { resume, refuse, timer: setTimeout(() => turnAway(asker, each), waitMs) }
      queues.add(asker, each)
    })
  }

  const giveBack = (asker: string, lane: number) => {
    free.push(lane)
    if (takenBy(asker) > 1) taken.set(asker, takenBy(asker) - 1)
    else taken.delete(asker)
    for (let next = queues.shift(mayTake); next; next = queues.shift(mayTake)) {
      const [whose, each] = next
      each.resume(take(whose))
    }
  }

  return {
    run: async (asker, work) => {
      const lane = mayTake(asker) ? take(asker) : await wait(asker)
      try {
        return await work(lane)
      } finally {
        giveBack(asker, lane)
      }
    },
    waiting: queues.length,
  }
}

type LaneRequest = { resume(lane: number): void; refuse(error: Error): void; timer: NodeJS.Timeout }

/** Creates the queues of the askers, in the order of turns: an asker that was served goes to the end. */
function createQueues() {
  const queues = new Map<string, LaneRequest[]>()
  let length = 0
  const remove = (asker: string, each: LaneRequest) => {
    clearTimeout(each.timer)
    length -= 1
    const queue = queues.get(asker)!
    queue.splice(queue.indexOf(each), 1)
    if (queue.length === 0) queues.delete(asker)
  }
  return {
    length: () => length,
    lengthOf: (asker: string) => queues.get(asker)?.length ?? 0,
    longest: () => [...queues].reduce((most, each) => (each[1].length > most[1].length ? each : most)),
    add: (asker: string, each: LaneRequest) => {
      length += 1
      const queue = queues.get(asker)
      if (queue) queue.push(each)
      else queues.set(asker, [each])
    },
    remove,
    /** Removes the first task of the first asker that may be served. */
    shift: (mayBeServed: (asker: string) => boolean): [string, LaneRequest] | undefined => {
      for (const [asker, queue] of queues) {
        if (!mayBeServed(asker)) continue
        const each = queue[0]!
        remove(asker, each)
        if (queues.delete(asker)) queues.set(asker, queue)
        return [asker, each]
      }
      return undefined
    },
  }
}
