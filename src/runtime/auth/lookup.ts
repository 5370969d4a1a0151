import { ApiError } from '#lib/errors'
import { shareNext } from '#runtime/scheduling/memoize'

/** Maximum ids per query. Beyond it, ids that were never verified are refused; ids verified before are always accepted. */
const idsMax = 500

type LookUpRow<Row> = (id: string, verifiedBefore: boolean) => Promise<Row | undefined>

/**
 * Reads rows by id with one query at a time for all waiting requests: requests with invalid keys or sessions, however many,
 * occupy one database connection.
 */
export function createLookup<Row extends { id: string }>(
  find: (ids: readonly string[]) => Promise<readonly Row[]>,
): LookUpRow<Row> {
  let asked = new Set<string>()
  const lookUpAsked = shareNext(async () => {
    const ids = [...asked]
    asked = new Set()
    return new Map((await find(ids)).map((row) => [row.id, row]))
  })
  return async (id, verifiedBefore) => {
    if (asked.size >= idsMax && !verifiedBefore)
      throw new ApiError('unavailable', 'Too many keys are being checked: try again in a moment.')
    asked.add(id)
    return (await lookUpAsked()).get(id)
  }
}
