import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'

/**
 * Number of requests of one entity that may wait for nodes in this process, for reads and for user operations: others have to
 * find connections too.
 */
const waitingMax = { reads: 8, operations: 24 } as const
const waiting = new Map<string, number>()

/** Runs work that waits for a node; refuses it while too much of the same entity waits. */
export async function limited<Result>(
  { entity }: Ctx,
  what: keyof typeof waitingMax,
  work: () => Promise<Result>,
): Promise<Result> {
  const key = `${what} ${entity.id}`
  const under = waiting.get(key) ?? 0
  if (under >= waitingMax[what]) throw new ApiError('rpcReadsExceeded')
  waiting.set(key, under + 1)
  try {
    return await work()
  } finally {
    const left = waiting.get(key)! - 1
    if (left > 0) waiting.set(key, left)
    else waiting.delete(key)
  }
}
