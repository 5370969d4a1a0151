/**
 * Closes the days of the books, for all entities at once, so that what is exported of a day never changes. First the day is marked:
 * from then on the database notes every posting with a date in it as one of the first open day. A `tx` that did not see the mark may still
 * be about to commit; once all that wrote postings then have ended, the day is final. Corrections, such as the reversal of a reorg, have
 * the date on which they are made.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { alarmWhile } from '#runtime/log/alarms'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { closedDays, closeThrough, finishThrough, writersOfPostings } from './store/closed-days.ts'

const dayMs = 86_400_000
/** Business time between the end of a day and its closing: its blocks are applied by then. */
const closeAfterMs = 600_000
const lookMs = 10_000
const waitMs = 20_000
const pollMs = 50
/** Business time after which a day that is not final is an alarm. */
const alarmAfterMs = 3_600_000

/** A day that is marked, and the transactions that may have begun to write before its mark. */
type MarkedDay = { day: string; writers: readonly string[]; markedMs: number }

const dayOf = (atMs: number): string => formatInstant(atMs).slice(0, 10)

export function startClosing(ctx: EngineCtx): Service {
  let marked: MarkedDay | undefined
  const report = alarmWhile(ctx.log, 'day-not-final', {
    begins: 'a closed day is not final after an hour: a transaction that writes postings has not ended since',
    ends: 'the closed day is final',
  })
  const closeDays = async () => {
    marked ??= await markDay(ctx)
    if (marked && (await isOver(ctx, marked))) marked = undefined
    const isStuck = marked !== undefined && ctx.clock.nowMs() - marked.markedMs > alarmAfterMs
    report(isStuck ? { day: marked!.day, transactions: marked!.writers } : undefined)
    // The next look is in time.
    return false
  }
  return serviceOf(repeat(closeDays, logTrouble(ctx.log, 'closing the days of the books'), lookMs))
}

/** Marks the days that are over. Undefined when all of them are final. */
async function markDay({ database, clock }: EngineCtx): Promise<MarkedDay | undefined> {
  const markedMs = clock.nowMs()
  const over = dayOf(markedMs - closeAfterMs - dayMs)
  const before = await closedDays(database)
  if (before && before.closedThrough >= over && before.finalThrough === before.closedThrough) return undefined
  await closeThrough(database, over)
  const day = (await closedDays(database))!.closedThrough
  return { day, writers: await writersOfPostings(database), markedMs }
}

/** Waits until the transactions that may still add to the day have ended, for a while: the day is final then. */
async function isOver({ database }: EngineCtx, { day, writers }: MarkedDay): Promise<boolean> {
  for (const endMs = performance.now() + waitMs; performance.now() < endMs; await sleep(pollMs)) {
    const open = await writersOfPostings(database)
    if (!writers.some((each) => open.includes(each))) {
      await finishThrough(database, day)
      return true
    }
  }
  return false
}
