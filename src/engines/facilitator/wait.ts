import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Db } from '#runtime/db/db'
import { oncePer, shareNext } from '#runtime/scheduling/memoize'
import { findSignedPayments, type PaymentRef, type SettledPayment } from './store.ts'

const shortestPauseMs = 10
const longestPauseMs = 500
/** Part of the time waited so far after which a payment is looked for again: an answer is late by no more than this part. */
const lateness = 1 / 10
/** Most requests of a process that wait at once; others are answered at once that their payment is pending. */
const waitingMax = 1_000

const nameOf = ({ entityId, id }: PaymentRef) => `${entityId} ${id}`

/** Requests of a process that wait: one statement at a time reads the payments of all of them, whichever accounts they are of. */
const waitersOf = oncePer((reading: Db) => {
  const asked: PaymentRef[] = []
  const read = shareNext(async () => {
    const found = await findSignedPayments(reading, asked.splice(0))
    return new Map(found.map((payment) => [nameOf(payment), payment]))
  })
  return {
    count: 0,
    look: async (ref: PaymentRef) => {
      asked.push(ref)
      return (await read()).get(nameOf(ref))
    },
  }
})

/** The payment once `isOver`, or as it is when the time is over. Trouble in between decides nothing about it. */
export async function waitForPayment(
  database: Database,
  payment: SettledPayment,
  endMs: number,
  isOver: (payment: SettledPayment) => boolean,
): Promise<SettledPayment> {
  const waiters = waitersOf(database.reading)
  if (waiters.count >= waitingMax) return payment
  waiters.count += 1
  try {
    let found = payment
    const startedMs = performance.now()
    while (!isOver(found)) {
      const nowMs = performance.now()
      if (nowMs >= endMs) break
      const pauseMs = Math.max(shortestPauseMs, (nowMs - startedMs) * lateness)
      await sleep(Math.min(pauseMs, longestPauseMs, endMs - nowMs))
      found = (await waiters.look(payment).catch(() => undefined)) ?? found
    }
    return found
  } finally {
    waiters.count -= 1
  }
}
