import { type Database, type Db, raw, type Sql, sql } from '#runtime/db/db'

/** Number of rows that statements read of each table, by sequential and by index scans. */
export type RowsRead = Readonly<Record<string, number>>

const undone = Symbol('undone')

/**
 * Returns the rows that `work` reads of each table, those of triggers, functions and key checks included, as PostgreSQL counts
 * them. The `tx` is undone, so that a statement can be measured again.
 */
export async function rowsReadBy(database: Database, work: (tx: Db) => Promise<unknown>): Promise<RowsRead> {
  let read: RowsRead = {}
  await database
    .tx(async (tx) => {
      const before = await countsOf(tx)
      await work(tx)
      const after = await countsOf(tx)
      read = growthOf(before, after)
      throw undone
    })
    .catch((error) => {
      if (error !== undone) throw error
    })
  return read
}

/**
 * Reads how many rows a session has read of each table, partitions included: its counters include earlier transactions that it has
 * not reported yet.
 */
export const countRows = `select relname as "table", sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int8 as count
  from pg_stat_xact_user_tables group by relname`

/** Counts by table, as `countRows` reads them. */
export const countsIn = (
  rows: readonly { table: string; count: number | string }[],
): ReadonlyMap<string, number> => new Map(rows.map(({ table, count }) => [table, Number(count)]))

const countsOf = async (tx: Db) => countsIn(await tx.all<{ table: string; count: number }>(raw(countRows)))

/** Returns by how much the count of each table grew: by 0 too, as when an index answers alone. */
export const growthOf = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): RowsRead =>
  Object.fromEntries([...after].map(([table, count]) => [table, count - (before.get(table) ?? 0)]))

/** Brings statistics up to date, as the server does by itself within a minute. */
export const analyze = async (owner: Db, ...tables: string[]): Promise<void> => {
  for (const table of tables) await owner.run(raw(`analyze ${table}`))
}

/** Inserts rows without the checks that keep a table consistent with others: of tenants that have nothing else. */
export const insertUnchecked = (owner: Db, insert: Sql) =>
  owner.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    await tx.run(insert)
  })
