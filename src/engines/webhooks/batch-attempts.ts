import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#runtime/db/db'
import { type Attempt, type AttemptOutcome, type DeliveryLane, recordAttempts } from './store/deliveries.ts'

export type RecordAttempt = (lane: DeliveryLane, outcome: AttemptOutcome) => Promise<void>

type WaitingAttempt = Attempt & { untilMs: number; resolve(): void; reject(error: unknown): void }

const batchMax = 100
/** Maximum statements that run at once. */
const writersMax = 4
/** Pause before an attempt is tried again whose rows another session locks, and the maximum wait for them. */
const lockedPauseMs = 100
const lockedMs = 15_000

/**
 * Returns a function that records attempts: those of an entity that end while a statement of it runs share its next one, so that
 * a busy worker commits once for many. Entities take turns. An attempt that cannot be recorded fails alone.
 */
export function attemptRecorder(database: Database): RecordAttempt {
  const waiting = new Map<string, WaitingAttempt[]>()
  const writing = new Set<string>()
  let writers = 0
  const nextEntity = () => [...waiting.keys()].find((entityId) => !writing.has(entityId))
  const write = async (entityId: string, batch: readonly WaitingAttempt[]): Promise<void> => {
    try {
      const locked = await recordAttempts(database, entityId, batch)
      for (const each of batch) if (!locked.includes(each)) each.resolve()
      if (locked.length > 0) void sleep(lockedPauseMs).then(() => writeAgain(entityId, locked))
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(error)
      else await Promise.all(batch.map((each) => write(entityId, [each])))
    }
  }
  const writeAgain = (entityId: string, locked: readonly WaitingAttempt[]) => {
    const isLate = ({ untilMs }: WaitingAttempt) => performance.now() > untilMs
    for (const { reject, lane } of locked.filter(isLate))
      reject(new Error(`another session locks the deliveries to ${lane.endpoint}`))
    add(
      entityId,
      locked.filter((each) => !isLate(each)),
    )
  }
  const writeAll = async () => {
    writers += 1
    for (let entityId = nextEntity(); entityId !== undefined; entityId = nextEntity()) {
      const all = waiting.get(entityId)!
      // Inserted again, the rest is behind those of other entities.
      waiting.delete(entityId)
      if (all.length > batchMax) waiting.set(entityId, all.slice(batchMax))
      writing.add(entityId)
      await write(entityId, all.slice(0, batchMax))
      writing.delete(entityId)
    }
    writers -= 1
  }
  const add = (entityId: string, more: readonly WaitingAttempt[]) => {
    if (more.length === 0) return
    waiting.set(entityId, [...(waiting.get(entityId) ?? []), ...more])
    if (writers < writersMax && !writing.has(entityId)) void writeAll()
  }
  return (lane, outcome) =>
    new Promise((resolve, reject) => {
      add(lane.entityId, [{ lane, outcome, untilMs: performance.now() + lockedMs, resolve, reject }])
    })
}
