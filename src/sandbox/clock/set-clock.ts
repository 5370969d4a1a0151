import type { EngineCtx } from '#engines/ctx'
import { holdTime, readTimes, releaseTime, setTime } from '#runtime/clock/store'
import type { Db } from '#runtime/db/db'
import { wakeLoops } from '#runtime/scheduling/loop'

/** Where business time stands, in milliseconds. */
type ClockReading = { nowMs: number; offsetMs: number; isFrozen: boolean }

/** Business time, to be moved. Every change wakes all loops of this process, and the clocks of the others. */
export type SettableClock = {
  nowMs(): number
  read(): Promise<ClockReading>
  /** Sets the time; it passes on from there, or stands still there while it is frozen. */
  set(nowMs: number): Promise<void>
  /** Lets time stand still: now, or at a later instant. */
  freeze(atMs?: number): Promise<void>
  /** Lets time pass again, from where it stands. */
  release(): Promise<void>
}

export function openSettableClock({ database, clock }: Pick<EngineCtx, 'database' | 'clock'>): SettableClock {
  const change = async (work: (tx: Db) => Promise<void>) => {
    await database.tx(work)
    await clock.reread?.()
    wakeLoops()
  }
  return {
    nowMs: () => clock.nowMs(),
    read: async () => {
      const { shift } = await readTimes(database)
      return { nowMs: clock.nowMs(), offsetMs: shift.offsetMs, isFrozen: shift.heldMs !== null }
    },
    set: (nowMs) => change((tx) => setTime(tx, nowMs)),
    freeze: (atMs) => change((tx) => holdTime(tx, atMs)),
    release: () => change(releaseTime),
  }
}
