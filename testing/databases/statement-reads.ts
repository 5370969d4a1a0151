import pg from 'pg'
import type { Connection } from '#runtime/db/db'
import { countRows, countsIn, growthOf, type RowsRead } from './rows-read.ts'
import type { SentStatement } from './statements.ts'

const isPlanned = /^\s*(with|select|insert|update|delete)\b/i

export type Reader = {
  /** Runs a statement, undoes it, and returns the most rows that it read of each table, by a plan for its values and for any. */
  readsOf(statement: SentStatement): Promise<RowsRead>
  planOf(statement: SentStatement): Promise<string>
  close(): Promise<void>
}

/** Opens a session of the program's role that measures statements. */
export async function openReader(connection: Connection): Promise<Reader> {
  const client = new pg.Client('url' in connection ? { connectionString: connection.url } : connection)
  await client.connect()
  await client.query('set role bezant_runtime')
  await client.query(`set statement_timeout = '30s'; set jit = off`)
  // Tables of this size are read as a whole for what one of a million rows is asked by an index.
  await client.query('set enable_seqscan = off')
  let name = 0
  const countsNow = async () => countsIn((await client.query(countRows)).rows)
  const measured = async (query: pg.QueryConfig): Promise<RowsRead> => {
    await client.query('begin')
    try {
      const before = await countsNow()
      await client.query('savepoint measured')
      // A statement that a constraint refuses has read its rows all the same.
      await client.query(query).catch(() => undefined)
      await client.query('rollback to measured')
      return growthOf(before, await countsNow())
    } finally {
      await client.query('rollback')
    }
  }
  return {
    readsOf: async ({ text, values }) => {
      if (!isPlanned.test(text)) return {}
      const custom = await measured({ text, values })
      await client.query('set plan_cache_mode = force_generic_plan')
      name += 1
      const generic = await measured({ name: `measured-${name}`, text, values })
      await client.query('reset plan_cache_mode')
      const tables = [...new Set([...Object.keys(custom), ...Object.keys(generic)])]
      return Object.fromEntries(
        tables.map((table) => [table, Math.max(custom[table] ?? 0, generic[table] ?? 0)]),
      )
    },
    planOf: async ({ text, values }) => {
      const { rows } = await client.query({ text: `explain ${text}`, values })
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    },
    close: () => client.end(),
  }
}
