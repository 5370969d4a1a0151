import { type Database, raw, sql } from '#runtime/db/db'

/** What a refused request may write all the same: a ciphertext that was shown is used up. */
const writtenWhenRefused = new Set(['spent_ciphertexts'])

/**
 * One line per table: how many rows it has and a hash of all that is in them. Two equal fingerprints mean that
 * nothing was written in between. Only meaningful while no engine runs.
 */
export async function fingerprintOfTables(database: Database): Promise<string> {
  const tables = (await tableNames(database)).filter((name) => !writtenWhenRefused.has(name))
  const queries = tables.map(
    (name) =>
      `select '${name}' as name, count(*) as rows, coalesce(sum(hashtextextended(t::text, 0)), 0)::text as hash from "${name}" t`,
  )
  const rows = await database.all<{ name: string; rows: number; hash: string }>(
    // Parallel plans give the parts of a union in any order.
    raw(`${queries.join(' union all ')} order by 1`),
  )
  return rows.map(({ name, rows: count, hash }) => `${name} ${count} ${hash}`).join('\n')
}

/** How many rows each table has. */
export async function rowCounts(database: Database): Promise<Record<string, number>> {
  const tables = await tableNames(database)
  const queries = tables.map((name) => `select '${name}' as name, count(*) as rows from "${name}"`)
  const rows = await database.all<{ name: string; rows: number }>(raw(queries.join(' union all ')))
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]))
}

/** Every id that a tenant owns, and every address, by table: up to five of each. */
export async function ownedIds(database: Database, entityId: string): Promise<string[]> {
  const columns = await database.all<{ table: string; column: string }>(sql`
    select c.table_name as table, c.column_name as column from information_schema.columns c
    join information_schema.columns e on e.table_schema = 'public' and e.table_name = c.table_name
      and e.column_name = 'entity_id'
    where c.table_schema = 'public' and c.data_type = 'uuid' and c.column_name in ('id', 'owner_id', 'batch_id')
    order by 1, 2`)
  const found = new Set<string>([entityId])
  for (const { table, column } of columns) {
    const rows = await database.all<{ id: string }>(
      sql`select distinct ${raw(`"${column}"`)} as id from ${raw(`"${table}"`)} where entity_id = ${entityId} limit 5`,
    )
    for (const { id } of rows) if (id) found.add(id)
  }
  return [...found]
}

async function tableNames(database: Database): Promise<string[]> {
  const rows = await database.all<{
    name: string
  }>(sql`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`)
  return rows.map(({ name }) => name)
}
