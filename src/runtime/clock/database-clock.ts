/**
 * The database's time, used on every host: processes compare each other's timestamps in limits, orders and expiry. The host's
 * own clock is not used; an alarm reports when it is off. Between two readings the monotonic clock carries the time forward.
 *
 * Business time is that time, moved or held by the row of `business_clock`. Only a sandbox writes one; all processes of its
 * database follow it.
 */
import { type Clock, hostOffMaxMs, systemClock } from '#lib/time'
import type { Db } from '../db/db.ts'
import { alarmWhile } from '../log/alarms.ts'
import { hearNotices } from '../pg-notifications.ts'
import { logTrouble, repeat } from '../scheduling/loop.ts'
import type { Scope } from '../scope.ts'
import { type ClockShift, clockChannel, readTimes } from './store.ts'

/** A reading: the database's time at a moment of the monotonic clock, exact to `withinMs`, half of the query's duration. */
type Look = { steadyMs: number; databaseMs: number; withinMs: number; shift: ClockShift }

const looksAtOnce = 3
const lookMs = 5_000
/** The assumed maximum drift of the monotonic clock. */
const driftShare = 1 / 5_000

/** Returns the most exact of a few readings, since any of them may have been delayed. */
const look = (db: Db): Promise<Look> =>
  db.tx(async (tx) => {
    const looks: Look[] = []
    for (let count = 0; count < looksAtOnce; count++) {
      const startedMs = performance.now()
      const { databaseMs, shift } = await readTimes(tx)
      const withinMs = (performance.now() - startedMs) / 2
      looks.push({ steadyMs: startedMs + withinMs, databaseMs, withinMs, shift })
    }
    return looks.reduce((best, each) => (each.withinMs < best.withinMs ? each : best))
  })

/** Chooses the more exact of two readings, the newer one when they contradict each other; the shift is always the newer. */
function better(known: Look, newer: Look): Look {
  const passedMs = newer.steadyMs - known.steadyMs
  const withinMs = known.withinMs + passedMs * driftShare
  const apartMs = Math.abs(known.databaseMs + passedMs - newer.databaseMs)
  return newer.withinMs <= withinMs || apartMs > withinMs + newer.withinMs
    ? newer
    : { ...known, shift: newer.shift }
}

function clockOf(known: () => Look): Required<Omit<Clock, 'reread'>> {
  const exactMs = () => known().databaseMs + performance.now() - known().steadyMs
  return {
    nowMs: () => {
      const { heldMs, offsetMs } = known().shift
      return heldMs ?? Math.floor(exactMs()) + offsetMs
    },
    hostOffMs: () => {
      const offMs = systemClock.nowMs() - exactMs()
      return Math.sign(offMs) * Math.max(0, Math.floor(Math.abs(offMs) - known().withinMs))
    },
  }
}

/** Reads the database's time once, for a short-lived command. */
export async function readDatabaseClock(db: Db): Promise<Clock> {
  const known = await look(db)
  return clockOf(() => known)
}

/** Reads the database's time periodically. Raises an alarm when the host's own clock is off. */
export async function openDatabaseClock({
  database,
  log,
}: Pick<Scope, 'database' | 'log'>): Promise<{ clock: Clock; stop(): Promise<void> }> {
  let known = await look(database.reading)
  const reread = async () => {
    known = better(known, await look(database.reading))
  }
  const clock = { ...clockOf(() => known), reread }
  const report = alarmWhile(log, 'clock-off', {
    begins: 'the clock of this machine is off from that of the database',
    ends: 'the clock of this machine is right again',
  })
  const warn = () => {
    const offMs = clock.hostOffMs()
    report(Math.abs(offMs) > hostOffMaxMs ? { offMs } : undefined)
  }
  warn()
  const turn = async () => {
    await reread()
    warn()
    return false
  }
  const loop = repeat(turn, logTrouble(log, 'reading the time of the database'), lookMs)
  const endNotices = hearNotices({ database, log }, clockChannel, () => loop.wake())
  return { clock, stop: () => endNotices().then(loop.stop) }
}
