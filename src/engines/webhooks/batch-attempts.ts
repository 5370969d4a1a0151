import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#runtime/db/db'
import { type Attempt, type AttemptOutcome, type DeliveryLane, recordAttempts } from './store/deliveries.ts'

export type RecordAttempt = (lane: DeliveryLane, outcome: AttemptOutcome) => Promise<void>

type WaitingAttempt = Attempt & { untilMs: number; resolve(): void; reject(error: unknown): void }

const batchMax = 100
/** Pause before an attempt is tried again whose rows another session locks, and the maximum wait for them. */
const lockedPauseMs = 100
const lockedMs = 15_000

/**
 * Returns a function that records attempts of all endpoints: those that end while a statement runs share the next one, so that
 * a busy worker commits once for many. An attempt that cannot be recorded fails alone.
 */
export function attemptRecorder(database: Database): RecordAttempt {
  let waiting: WaitingAttempt[] = []
  let isWriting = false
  const write = async (batch: readonly WaitingAttempt[]): Promise<void> => {
    try {
      const locked = await recordAttempts(database, batch)
      for (const each of batch) if (!locked.includes(each)) each.resolve()
      if (locked.length > 0) void sleep(lockedPauseMs).then(() => writeAgain(locked))
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(error)
      else await Promise.all(batch.map((each) => write([each])))
    }
  }
  const writeAgain = (locked: readonly WaitingAttempt[]) => {
    const isLate = ({ untilMs }: WaitingAttempt) => performance.now() > untilMs
    for (const { reject, lane } of locked.filter(isLate))
      reject(new Error(`another session locks the deliveries to ${lane.endpoint}`))
    add(locked.filter((each) => !isLate(each)))
  }
  const writeAll = async () => {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax)
      waiting = waiting.slice(batchMax)
      await write(batch)
    }
    isWriting = false
  }
  const add = (more: readonly WaitingAttempt[]) => {
    waiting.push(...more)
    if (!isWriting) void writeAll()
  }
  return (lane, outcome) =>
    new Promise((resolve, reject) => {
      add([{ lane, outcome, untilMs: performance.now() + lockedMs, resolve, reject }])
    })
}
