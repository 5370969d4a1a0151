import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import type { Config } from '#runtime/config'
import { oncePer } from '#runtime/scheduling/memoize'

/**
 * Number of requests of one address that may wait for nodes in this process, for reads and for user operations, with the client key
 * of one entity: others have to get through too. All addresses together may have `addressesShare` times as many.
 */
const waitingMax = { reads: 8, operations: 24 } as const
const addressesShare = 4
const waitingIn = oncePer((_config: Config) => new Map<string, number>())

/** Runs work that waits for a node; refuses it while too much of the same address, or of the same entity, waits. */
export async function limited<Result>(
  { config, entity, page }: Ctx,
  what: keyof typeof waitingMax,
  work: () => Promise<Result>,
): Promise<Result> {
  const waiting = waitingIn(config)
  const max = waitingMax[what]
  const limits = [
    [`${what} ${entity.id} ${page}`, max],
    [`${what} ${entity.id}`, max * addressesShare],
  ] as const
  if (limits.some(([key, most]) => (waiting.get(key) ?? 0) >= most)) throw new ApiError('rpcReadsExceeded')
  for (const [key] of limits) waiting.set(key, (waiting.get(key) ?? 0) + 1)
  try {
    return await work()
  } finally {
    for (const [key] of limits) {
      const left = waiting.get(key)! - 1
      if (left > 0) waiting.set(key, left)
      else waiting.delete(key)
    }
  }
}
