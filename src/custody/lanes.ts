import { ApiError } from '#lib/errors'

/** Runs at most `count` pieces of work at once, each told its lane; refuses when too many wait already. */
export type Lanes = <Result>(work: (lane: number) => Promise<Result>) => Promise<Result>

export function createLanes(count: number, waitingMax: number): Lanes {
  const free = Array.from({ length: count }, (_, lane) => lane)
  const waiting: ((lane: number) => void)[] = []
  const take = async () => {
    const lane = free.pop()
    if (lane !== undefined) return lane
    if (waiting.length >= waitingMax)
      throw new ApiError('unavailable', 'Too many ciphertexts are being decrypted: try again in a moment.')
    return new Promise<number>((resume) => waiting.push(resume))
  }
  return async (work) => {
    const lane = await take()
    try {
      return await work(lane)
    } finally {
      const next = waiting.shift()
      if (next) next(lane)
      else free.push(lane)
    }
  }
}
