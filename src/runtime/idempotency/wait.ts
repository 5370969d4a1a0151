import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Db } from '#runtime/db/db'
import { oncePer } from '#runtime/scheduling/memoize'
import { type BindingKey, isUnclaimed } from './store.ts'

const firstMs = 10
const longestMs = 500
/** Maximum number of waiting requests of one process; further ones are refused and may be sent again. */
const waitingMax = 1_000

/** Requests that wait for the same key share one query at a time. */
const waitersOf = oncePer((_: Db) => ({ count: 0, looks: new Map<string, Promise<boolean>>() }))

/**
 * Waits until no duplicate request holds the key, whatever its outcome; returns false when `endMs` comes first.
 * Holds no connection between two polls, and uses read-only ones.
 */
export async function untilUnclaimed(
  database: Database,
  binding: BindingKey,
  endMs: number,
): Promise<boolean> {
  const waiters = waitersOf(database.reading)
  if (waiters.count === waitingMax) return false
  waiters.count += 1
  try {
    for (let pauseMs = firstMs; performance.now() < endMs; pauseMs = Math.min(pauseMs * 2, longestMs)) {
      await sleep(pauseMs)
      if (await look(waiters.looks, database, binding)) return true
    }
    return false
  } finally {
    waiters.count -= 1
  }
}

function look(looks: Map<string, Promise<boolean>>, { reading }: Database, binding: BindingKey) {
  const id = [binding.entityId, binding.operation, binding.key].join()
  const known = looks.get(id)
  if (known) return known
  const asked = isUnclaimed(reading, binding).finally(() => looks.delete(id))
  looks.set(id, asked)
  return asked
}
