import { type Database, type Db, sql } from '#runtime/db/db'
import type { SessionLimits } from '#runtime/db/limits'
import { until } from '#testing/platform/until'

/** Limits of a tx that holds a lock while a test waits for others: the server ends it never, however long that takes. */
export const unlimited: SessionLimits = { idleMs: 0, lockMs: 0, statementMs: 0 }

type Session = { pid: number }

export const sessionOf = (tx: Db) => tx.one<Session>(sql`select pg_backend_pid() as pid`)

/**
 * Waits until another session waits for a lock of this one. Test files share a server: any waiting session will not do. On a distributed
 * server the lock is one of a session on a node, which works for this one.
 */
export async function untilBlockedBy({ pid }: Session, database: Database, what: string): Promise<void> {
  const { isDistributed } = await database.one<{ isDistributed: boolean }>(
    sql`select to_regclass('citus_lock_waits') is not null as is_distributed`,
  )
  const waiting = isDistributed
    ? sql`select 1 from citus_lock_waits
        where blocking_gpid = citus_calculate_gpid((select nodeid from pg_dist_node where groupid = 0), ${pid}::integer)`
    : sql`select 1 from pg_stat_activity a where ${pid} = any(pg_blocking_pids(a.pid))`
  await until(async () => (await database.all(waiting)).length > 0, what)
}
