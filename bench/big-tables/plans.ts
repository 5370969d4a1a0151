import pg from 'pg'
import { type Connection, type Database, sql } from '#runtime/db/db'
import type { Figure } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import type { Run } from '../run.ts'
import type { BigPage } from './pages.ts'

/** How a page is planned: for its values or for any, with statistics of now or with none. */
const ways = {
  'for its values': { mode: 'force_custom_plan', isKnown: true },
  'for any values': { mode: 'force_generic_plan', isKnown: true },
  'for its values, never analysed': { mode: 'force_custom_plan', isKnown: false },
  'for any values, never analysed': { mode: 'force_generic_plan', isKnown: false },
} as const
type Way = keyof typeof ways

type Read = { table: string; page: string; blocks: number }

/**
 * Reads each page by each way of planning, and compares the blocks that they read, which depend on no load of the machine. Tables
 * keep the statistics of the last analysis afterwards.
 */
export async function measurePlans(
  run: Run,
  connection: Connection,
  owner: Database,
  pages: ReadonlyMap<string, readonly BigPage[]>,
): Promise<Figure[]> {
  const client = new pg.Client('url' in connection ? { connectionString: connection.url } : connection)
  await client.connect()
  run.atEnd(() => client.end())
  // A plan that reads a table as a whole is told apart within this time.
  await client.query(`set statement_timeout = '20s'; set jit = off`)
  const busy = measureBusyCores()
  const worst = new Map<Way, Read>()
  for (const [way, { mode, isKnown }] of Object.entries(ways) as [Way, (typeof ways)[Way]][]) {
    if (!isKnown) for (const table of pages.keys()) await forget(owner, table)
    await client.query(`set plan_cache_mode = ${mode}`)
    for (const [table, list] of pages)
      for (const page of list) {
        const blocks = await blocksOf(client, page)
        if (blocks > (worst.get(way)?.blocks ?? -1)) worst.set(way, { table, page: page.name, blocks })
        if (blocks > 1_000) run.report(`${table}, ${page.name}, planned ${way}: ${blocks} blocks`)
      }
  }
  for (const table of pages.keys()) await owner.script(`analyze ${table}`)
  const reference = worst.get('for its values')!
  return Object.keys(ways).map((way) => {
    const found = worst.get(way as Way)!
    return {
      name: `most blocks that a page reads, planned ${way} (${found.table}, ${found.page})`,
      measured: { value: found.blocks, unit: 'blocks' },
      reference: { value: reference.blocks, unit: 'blocks', what: 'planned for its values' },
      ratio: found.blocks / reference.blocks,
      coresBusy: busy(),
    }
  })
}

/** Removes what the planner knows about a table, as if it had never been analysed. */
async function forget(owner: Database, table: string): Promise<void> {
  await owner.run(sql`select pg_clear_relation_stats('public', ${table}::text)`)
  await owner.run(sql`select pg_clear_attribute_stats('public', ${table}::text, attname::text, false) from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`)
}

/** The blocks that a page reads, of 8 KiB; of one that takes too long, more than any table here has. */
async function blocksOf(client: pg.Client, { statement }: BigPage): Promise<number> {
  const values = statement.values.map(literalOf).join(', ')
  await client.query(`prepare page as ${statement.text}`)
  const asked = `explain (analyze, buffers, timing off, format json) execute page${values && `(${values})`}`
  try {
    const { rows } = await client.query(asked)
    const { Plan: plan } = rows[0]['QUERY PLAN'][0]
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  } catch (error) {
    if ((error as pg.DatabaseError).code === '57014') return 10_000_000
    throw error
  } finally {
    await client.query('deallocate page')
  }
}

const literalOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map((each) => `"${each}"`).join(',')}}`)
  return pg.escapeLiteral(String(value))
}
