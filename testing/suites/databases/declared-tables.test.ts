import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { columnOf } from '#runtime/db/names'
import { declaredTables } from '#runtime/db/table'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'

const source = fileURLToPath(new URL('../../../src', import.meta.url))
const declaring = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => join(source, path))
  .map((path) => ({ path, names: readFileSync(path, 'utf8').matchAll(/\btable\('(\w+)'/g) }))
  .map(({ path, names }) => ({ path, names: [...names].map(([, name]) => name!) }))
  .filter(({ names }) => names.length > 0)
for (const { path } of declaring) await import(path)

// Tests of other files share this process, and one declares a table that no migration makes.
const names = declaring.flatMap((file) => file.names)
const declared = () => declaredTables().filter(({ name }) => names.includes(name))

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

type FoundColumn = { name: string; type: string; isNullable: boolean }

/** The columns that are declared otherwise than the database has them. */
async function wrongColumnsOf({ name, declared }: ReturnType<typeof declaredTables>[number]) {
  const found =
    await test.database.all<FoundColumn>(sql`select a.attname as name, not a.attnotnull as is_nullable,
      format_type(a.atttypid, null) as type
    from pg_attribute a where a.attrelid = to_regclass(${name}) and a.attnum > 0 and not a.attisdropped`)
  const types: Record<string, string> = { 'timestamp with time zone': 'timestamptz' }
  return Object.entries(declared).flatMap(([field, { type, isNullable }]) => {
    const column = found.find((each) => each.name === columnOf(field))
    if (!column) return [`${name}.${columnOf(field)} does not exist`]
    const real = { type: types[column.type] ?? column.type, isNullable: column.isNullable }
    return real.type === type && real.isNullable === isNullable
      ? []
      : [
          `${name}.${column.name} is declared ${JSON.stringify({ type, isNullable })}, is ${JSON.stringify(real)}`,
        ]
  })
}

describe('declarations of tables', () => {
  it('are found in the source', () => {
    expect(declaring.length).toBeGreaterThan(8)
    expect(
      declared()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names.toSorted())
  })

  it('name columns of the database, with their types and whether they can be null', async () => {
    const wrong = await Promise.all(declared().map(wrongColumnsOf))
    expect(wrong.flat()).toEqual([])
  })
})
