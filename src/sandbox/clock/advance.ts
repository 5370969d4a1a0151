import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '#runtime/db/db'
import type { SettableClock } from './set-clock.ts'
import { type DueTimer, nextDue } from './timers.ts'

/** After so many stops the rest of the way is one leap. */
const hopsMax = 1_000
/** How long a stop waits for the work that is due: an endpoint that does not answer must not hold up an advance. */
const settleMs = 2_000
const lookEveryMs = 10
/** How much of each timer a stop looks at. */
const lookedAtMax = 50
/** How many fired timers an answer names. */
const firedMax = 1_000

const dueMs = ({ dueDate }: DueTimer) => Date.parse(dueDate)

/** How far an advance has come. */
type Progress = { hops: number; fired: Map<string, DueTimer> }

export const newProgress = (): Progress => ({ hops: 0, fired: new Map() })

export const shownProgress = ({ hops, fired }: Progress) => ({
  hops,
  leapt: hops === hopsMax,
  fired: [...fired.values()].sort((a, b) => dueMs(a) - dueMs(b)).slice(0, firedMax),
})

type AdvanceParts = {
  database: Database
  clock: SettableClock
  /** Lets the chains follow to a new time. */
  follow(nowMs: number): Promise<void>
}

/**
 * Moves business time forward, from due date to due date, so that what is due on Tuesday happens before what is due on
 * Wednesday, and with Tuesday's date. Each stop ends when nothing is due any more, or after two seconds.
 */
export async function advanceTo(
  { database, clock, follow }: AdvanceParts,
  toMs: number,
  progress: Progress,
): Promise<void> {
  const watch = watchTimers(database, clock, progress)
  const goTo = async (ms: number) => {
    await follow(ms)
    await clock.set(ms)
    await watch.settle()
  }
  await watch.settle()
  for (; progress.hops < hopsMax; progress.hops++) {
    const due = await watch.awaited()
    const [next] = due
    if (!next || dueMs(next) > toMs) break
    const stopMs = Math.max(clock.nowMs(), dueMs(next))
    // Noted before it is due: an engine may be done with it before the first look.
    watch.note(due, stopMs)
    await goTo(stopMs)
  }
  if (clock.nowMs() < toMs) {
    watch.note(await watch.awaited(), toMs)
    await goTo(toMs)
  }
  await watch.awaited()
}

const keyOf = ({ timer, resourceId, dueDate }: DueTimer) => `${timer} ${resourceId} ${dueDate}`

type TimerWatch = {
  /** The work that is not given up on, the earliest first; notes what is done since the last look. */
  awaited(): Promise<readonly DueTimer[]>
  /** Notes the work that is due by then, and returns it. */
  note(work: readonly DueTimer[], byMs: number): readonly DueTimer[]
  /** Waits for the work that is due. What is not done in time is not waited for again. */
  settle(): Promise<void>
}

function watchTimers(database: Database, clock: SettableClock, { fired }: Progress): TimerWatch {
  const givenUp = new Set<string>()
  const seen = new Map<string, DueTimer>()
  const look = async (limit: number) => {
    const found = await nextDue(database, limit)
    for (const each of found) seen.set(keyOf(each), each)
    return found
  }
  const awaitedOf = (found: readonly DueTimer[]) => found.filter((due) => !givenUp.has(keyOf(due)))
  const note = (work: readonly DueTimer[], byMs: number) => {
    const due = work.filter((each) => dueMs(each) <= byMs)
    for (const each of due) fired.set(keyOf(each), each)
    return due
  }
  return {
    awaited: async () => {
      const before = [...seen]
      seen.clear()
      const found = await look(firedMax)
      // Time passes at a stop too, and an engine may be done before the next look with what became due meanwhile.
      const done = before.filter(([key]) => !seen.has(key))
      note(
        done.map(([, each]) => each),
        clock.nowMs(),
      )
      return awaitedOf(found)
    },
    note,
    settle: async () => {
      const startedMs = performance.now()
      for (;;) {
        const due = note(awaitedOf(await look(lookedAtMax)), clock.nowMs())
        if (due.length === 0) return
        if (performance.now() - startedMs > settleMs) {
          for (const each of due) givenUp.add(keyOf(each))
          return
        }
        await delay(lookEveryMs)
      }
    },
  }
}
