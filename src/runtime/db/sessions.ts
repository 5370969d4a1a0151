import { endAlarm, raiseAlarm } from '../log/alarms.ts'
import { type Loop, logTrouble, repeat } from '../scheduling/loop.ts'
import type { Scope } from '../scope.ts'
import { type Database, raw, sql } from './db.ts'

/** A session that blocks others, or that is idle inside a transaction. */
type StuckSession = {
  pid: number
  /** `bezant HOST:PROCESS` for our own sessions. */
  applicationName: string
  state: string
  waitEvent: string | null
  /** Its last statement, without values; then the ages of that statement and of its transaction. */
  query: string
  queryAgeMs: number
  txAgeMs: number
  /** Number of sessions that wait for it, and the longest of their waits. */
  blocked: number
  waitedMs: number
}

/** No session of ours waits or is idle this long in normal operation; the server ends it at a multiple of this. */
const stuckMs = 4_000
const lookMs = 2_000

/** Returns the sessions of this database that have been stuck for `ms`, without those that wait for a lock themselves. */
export const stuckSessions = (database: Database, ms = stuckMs): Promise<StuckSession[]> =>
  database.reading.tx(async (tx) => {
    // The server shows a session's state to sessions of the same user, which the program's role is not.
    await tx.script('set local role none')
    return tx.all<StuckSession>(sql`with long as (select clock_timestamp() - ${ms} * interval '1 millisecond' as ago),
      waits as (
        select distinct l.pid, l.waitstart from pg_locks l, long
        where not l.granted and l.waitstart < long.ago
      ), blockers as (
        select blocker as pid, count(*) as blocked, min(w.waitstart) as since
        from waits w, unnest(pg_blocking_pids(w.pid)) as blocker group by 1
      )
      select a.pid, a.application_name, coalesce(a.state, 'not shown') as state, a.wait_event,
        left(a.query, 200) as query, ${msSince('a.query_start')} as query_age_ms, ${msSince('a.xact_start')} as tx_age_ms,
        coalesce(b.blocked, 0) as blocked, ${msSince('b.since')} as waited_ms
      from pg_stat_activity a cross join long left join blockers b on b.pid = a.pid
      where a.datname = current_database() and a.pid <> pg_backend_pid()
        and (b.pid is not null and a.wait_event_type is distinct from 'Lock'
          or a.state like 'idle in transaction%' and a.state_change < long.ago)`)
  })

const msSince = (column: string) =>
  raw(`coalesce((extract(epoch from clock_timestamp() - ${column}) * 1000)::int8, 0)`)

/** Raises an alarm for each stuck session, once in each watching process. */
export function watchSessions({ database, log }: Pick<Scope, 'database' | 'log'>): Loop {
  let known = new Map<string, StuckSession>()
  const turn = async () => {
    const stuck = await stuckSessions(database)
    const keyOf = ({ pid, query }: StuckSession) => `${pid} ${query}`
    for (const session of stuck)
      if (!known.has(keyOf(session)))
        raiseAlarm(
          log,
          'session-stuck',
          session,
          'a session of the database stands still or holds up others',
          keyOf(session),
        )
    const now = new Map(stuck.map((session) => [keyOf(session), session]))
    for (const [key, { pid, applicationName }] of known)
      if (!now.has(key))
        endAlarm(
          log,
          'session-stuck',
          { pid, applicationName },
          'a session of the database moves again, or is gone',
          key,
        )
    known = now
    return false
  }
  return repeat(turn, logTrouble(log, 'looking for stuck sessions of the database'), lookMs)
}
