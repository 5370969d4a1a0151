import { ApiError } from '#lib/errors'
import type { Db } from '#runtime/db/db'
import { shareNext } from '#runtime/scheduling/memoize'
import { type ApiKey, findApiKeys } from './store.ts'

/** Maximum ids per query. Beyond it, ids that were never verified are refused; ids verified before are always accepted. */
const idsMax = 500

type KeyLookup = (id: string, verifiedBefore: boolean) => Promise<ApiKey | undefined>

/**
 * Reads keys by id with one query at a time for all waiting requests: requests with invalid keys, however many, occupy
 * one database connection.
 */
export function createKeyLookup(db: Db): KeyLookup {
  let asked = new Set<string>()
  const lookUpAsked = shareNext(async () => {
    const ids = [...asked]
    asked = new Set()
    const keys = await findApiKeys(db, ids)
    return new Map(keys.map((key) => [key.id, key]))
  })
  return async (id, verifiedBefore) => {
    if (asked.size >= idsMax && !verifiedBefore)
      throw new ApiError('unavailable', 'Too many API keys are being checked: try again in a moment.')
    asked.add(id)
    return (await lookUpAsked()).get(id)
  }
}
