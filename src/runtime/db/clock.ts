/**
 * The database's time, used on every host: processes compare each other's timestamps in limits, orders and expiry. The host's
 * own clock is not used; an alarm reports when it is off. Between two readings the monotonic clock carries the time forward.
 */
import { type Clock, hostOffMaxMs, systemClock } from '#lib/time'
import { alarmWhile } from '../log/alarms.ts'
import { logTrouble, repeat } from '../scheduling/loop.ts'
import type { Scope } from '../scope.ts'
import { type Db, sql } from './db.ts'

/** A reading: the database's time at a moment of the monotonic clock, exact to `withinMs`, half of the query's duration. */
type Look = { steadyMs: number; databaseMs: number; withinMs: number }

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
      const { nowMs } = await tx.one<{ nowMs: number }>(
        sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
      )
      const withinMs = (performance.now() - startedMs) / 2
      looks.push({ steadyMs: startedMs + withinMs, databaseMs: nowMs, withinMs })
    }
    return looks.reduce((best, each) => (each.withinMs < best.withinMs ? each : best))
  })

/** Chooses the more exact of two readings; the newer one when they contradict each other. */
function better(known: Look, newer: Look): Look {
  const passedMs = newer.steadyMs - known.steadyMs
  const withinMs = known.withinMs + passedMs * driftShare
  const apartMs = Math.abs(known.databaseMs + passedMs - newer.databaseMs)
  return newer.withinMs <= withinMs || apartMs > withinMs + newer.withinMs ? newer : known
}

function clockOf(known: () => Look): Required<Clock> {
  const exactMs = () => known().databaseMs + performance.now() - known().steadyMs
  return {
    nowMs: () => Math.floor(exactMs()),
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
  const clock = clockOf(() => known)
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
    known = better(known, await look(database.reading))
    warn()
    return false
  }
  const loop = repeat(turn, logTrouble(log, 'reading the time of the database'), lookMs)
  return { clock, stop: loop.stop }
}
