/**
 * Closes the days of the books, for all entities at once, so that what is exported of a day never changes. First the day is marked:
 * from then on the database notes every posting with a date in it as one of the first open day. A `tx` that did not see the mark may still
 * be about to commit; once all transactions that ran then have ended, the day is final. Corrections, such as the reversal of a reorg, have
 * the date on which they are made.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import {
  closedDays,
  closeThrough,
  finishThrough,
  haveEndedBefore,
  nextTransaction,
} from './store/closed-days.ts'

const dayMs = 86_400_000
/** Business time between the end of a day and its closing: its blocks are applied by then. */
const closeAfterMs = 600_000
const lookMs = 10_000
const waitMs = 20_000
const pollMs = 50

const dayOf = (atMs: number): string => formatInstant(atMs).slice(0, 10)

export const startClosing = (ctx: EngineCtx): Service =>
  serviceOf(repeat(() => closeDays(ctx), logTrouble(ctx.log, 'closing the days of the books'), lookMs))

/** Closes what is over. Always false: the next look is in time. */
async function closeDays({ database, clock }: EngineCtx): Promise<boolean> {
  const over = dayOf(clock.nowMs() - closeAfterMs - dayMs)
  const before = await closedDays(database)
  if (before && before.closedThrough >= over && before.finalThrough === before.closedThrough) return false
  await closeThrough(database, over)
  const day = (await closedDays(database))!.closedThrough
  const next = await nextTransaction(database)
  for (const endMs = performance.now() + waitMs; performance.now() < endMs; await sleep(pollMs))
    if (await haveEndedBefore(database, next)) {
      await finishThrough(database, day)
      break
    }
  return false
}
