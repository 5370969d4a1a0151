/** Requests that wait to be written, in memory, up to a number and a size. */
import type { RequestBodies, RequestRow } from './store.ts'

/** A request to log; `bodies` where they are kept. */
export type LoggedRequest = { row: RequestRow; bodies?: RequestBodies | undefined }

/** Bounds of the queue: a row with both bodies has up to 33 kB. */
const queueMax = 10_000
const queueBytesMax = 32 * 1_048_576
const rowBytes = 512

export function createBoundedQueue() {
  const waiting: LoggedRequest[] = []
  let bytes = 0
  return {
    length: () => waiting.length,
    /** False when there is no room. */
    add: (request: LoggedRequest): boolean => {
      const more = bytesOf(request)
      if (waiting.length >= queueMax || bytes + more > queueBytesMax) return false
      bytes += more
      waiting.push(request)
      return true
    },
    oldest: (count: number): readonly LoggedRequest[] => waiting.slice(0, count),
    remove: (count: number): void => {
      for (const removed of waiting.splice(0, count)) bytes -= bytesOf(removed)
    },
  }
}

const bytesOf = ({ bodies }: LoggedRequest): number =>
  rowBytes + (bodies?.requestBody?.length ?? 0) + (bodies?.responseBody?.length ?? 0)
