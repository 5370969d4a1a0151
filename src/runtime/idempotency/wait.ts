import { setTimeout as sleep } from 'node:timers/promises'
import { oncePer } from '#lib/once'
import type { Database, Db } from '#runtime/db/db'
import { type BindingKey, isUnclaimed } from './store.ts'

const firstMs = 10
const longestMs = 500
/** Requests of one process that wait at once; more are told to come back. */
const waitingMax = 1_000

/** Requests that wait for one key look together, by one question at a time. */
const waitersOf = oncePer((_: Db) => ({ count: 0, looks: new Map<string, Promise<boolean>>() }))

/**
 * Waits until no twin is at work on the key, which says nothing of how that ended; false when `endMs` has come first.
 * Holds no connection between two looks, and none that writes.
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
