import { ApiError } from '#lib/errors'
import { shareNext } from '#lib/once'
import type { Db } from '#runtime/db/db'
import { type ApiKey, findApiKeys } from './store.ts'

/** Ids of one query. One that was never verified finds no place beyond it; one that was is never turned away. */
const idsMax = 500

export type KeyLookup = (id: string, verifiedBefore: boolean) => Promise<ApiKey | undefined>

/**
 * Reads keys by id with one query at a time for all requests that wait: requests with made-up keys, however many, occupy
 * one connection of the database.
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
      throw new ApiError('unavailable', 'Too many API keys wait to be checked: try again in a moment.')
    asked.add(id)
    return (await lookUpAsked()).get(id)
  }
}
