import { newId } from '#lib/ids'
import { insertEntity } from '#runtime/auth/store'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { migrate } from '#runtime/db/migrate'
import { createLog } from '#runtime/log/log'
import { startEmbeddedPostgres } from '#sandbox/postgres/index'
import type { Figure } from '../figures.ts'
import type { Bench, Run } from '../run.ts'
import { bigTables, fillBigTables } from './fill.ts'
import { measureLife } from './life.ts'
import { bigLists } from './lists.ts'
import { type BigPage, measurePages, pagesOf } from './pages.ts'
import { measurePlans } from './plans.ts'
import { measureRetention } from './retention.ts'
import { measureSizes } from './sizes.ts'
import { measureVacuum } from './vacuum.ts'
import { measureWrites } from './writes.ts'

export const bigTablesBench: Bench = {
  name: 'big-tables',
  about: 'pages, plans, indexes and removal of old rows in tables of 10,000,000 rows',
  measure: async (run) => {
    const dataDir = await run.directory()
    const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: true, log: createLog('error') })
    run.atEnd(postgres.stop)
    await migrate(postgres.connection)
    const database = openAsOwner(postgres.connection, 4)
    run.atEnd(database.close)
    const entityId = newId(Date.now())
    await database.tx((tx) =>
      insertEntity(tx, { id: entityId, environment: 'TEST', name: 'Bench', nowMs: Date.now() }),
    )
    await database.script(`set maintenance_work_mem = '512MB'`)
    await fillBigTables(run, database, entityId, run.amount(10_000_000, 500_000, 3_000))
    return [
      ...(await measureBigTables(run, postgres.connection, database, entityId)),
      ...(await measureLife(run)),
    ]
  },
}

/** Measures a database that is filled. It has fewer requests and notifications afterwards. */
export async function measureBigTables(
  run: Run,
  connection: Parameters<typeof measurePlans>[1],
  database: Database,
  entityId: string,
): Promise<Figure[]> {
  const deepMs = await deepDate(database)
  const pages = new Map<string, readonly BigPage[]>()
  const figures: Figure[] = []
  for (const list of bigLists) {
    pages.set(list.table, await pagesOf(database, entityId, list, deepMs))
    figures.push(await measurePages(run, database, list, pages.get(list.table)!))
  }
  figures.push(...(await measurePlans(run, connection, database, pages)))
  figures.push(...(await measureSizes(run, database, bigTables)))
  figures.push(...(await measureWrites(run, database)))
  figures.push(...(await measureVacuum(run, database)))
  figures.push(...(await measureRetention(run, database, entityId)))
  return figures
}

/** The time behind nine tenths of all rows, the newest first. */
async function deepDate(database: Database): Promise<number> {
  const { ms } = await database.one<{ ms: number }>(sql`select (extract(epoch from
      min(create_date) + (max(create_date) - min(create_date)) / 10) * 1000)::int8 as ms from transactions`)
  return ms
}
