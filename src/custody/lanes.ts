import { ApiError } from '#lib/errors'

/** Runs at most `count` pieces of work at once, each told its lane; those who ask take turns, however much each of them waits for. */
export type Lanes = <Result>(asker: string, work: (lane: number) => Promise<Result>) => Promise<Result>

type Waiting = { resume(lane: number): void; refuse(error: Error): void }

/**
 * `waitingMax` pieces of work may wait. When there is no room, the asker with the most of them loses its latest one, so that
 * a crowd turns away its own work and that of no other.
 */
export function createLanes(count: number, waitingMax: number): Lanes {
  const free = Array.from({ length: count }, (_, lane) => lane)
  /** In the order of turns: an asker that was served goes to the end. */
  const queues = new Map<string, Waiting[]>()
  let waiting = 0

  const turnAway = (asker: string) => {
    const own = (queues.get(asker)?.length ?? 0) + 1
    const [noisiest, queue] = [...queues].reduce((most, each) =>
      each[1].length > most[1].length ? each : most,
    )
    if (queue.length < own) throw crowded()
    queue.pop()!.refuse(crowded())
    if (queue.length === 0) queues.delete(noisiest)
    waiting -= 1
  }

  const take = async (asker: string): Promise<number> => {
    const lane = free.pop()
    if (lane !== undefined) return lane
    if (waiting >= waitingMax) turnAway(asker)
    return new Promise<number>((resume, refuse) => {
      const queue = queues.get(asker) ?? []
      queue.push({ resume, refuse })
      queues.set(asker, queue)
      waiting += 1
    })
  }

  const handOn = (lane: number): void => {
    const turn = queues.entries().next().value
    if (!turn) return void free.push(lane)
    const [asker, queue] = turn
    const next = queue.shift()!
    queues.delete(asker)
    if (queue.length > 0) queues.set(asker, queue)
    waiting -= 1
    next.resume(lane)
  }

  return async (asker, work) => {
    const lane = await take(asker)
    try {
      return await work(lane)
    } finally {
      handOn(lane)
    }
  }
}

const crowded = () =>
  new ApiError('tooManyRequests', 'Too many of your ciphertexts wait to be decrypted: try again in a moment.')
