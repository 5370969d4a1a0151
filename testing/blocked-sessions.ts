import { type Database, type Db, sql } from '#runtime/db/db'
import { until } from './until.ts'

/** Waits until a session waits for a lock that `tx` holds. Test files share a server: any waiting session will not do. */
export async function untilBlockedBy(tx: Db, database: Database, what: string): Promise<void> {
  const { pid } = await tx.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  const waiting = sql`select 1 from pg_stat_activity a where ${pid} = any(pg_blocking_pids(a.pid))`
  await until(async () => (await database.all(waiting)).length > 0, what)
}
