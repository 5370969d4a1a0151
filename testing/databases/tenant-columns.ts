import { readdirSync, readFileSync } from 'node:fs'
import { parseSync } from 'libpg-query'
import { tableKind } from '#runtime/db/distribute'
import type { TenantColumns } from './statement-kinds.ts'
import { nameOf, namesIn, type Part, partOf, partsOf, stringsOf } from './statement-parts.ts'

const migrationsFolder = new URL('../../migrations/', import.meta.url)

/** The files of all migrations, in their order. */
export const readMigrations = (): { name: string; text: string }[] =>
  readdirSync(migrationsFolder)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, migrationsFolder), 'utf8') }))

/** The tables and views of tenants as the migrations make them, and the column of each that names the tenant. */
export function readTenantColumns(): TenantColumns {
  const columns = new Map([['entities', 'id']])
  for (const { text } of readMigrations()) {
    for (const { stmt } of parseSync(text).stmts ?? []) {
      const relation = tenantRelationOf(stmt as Part)
      if (relation !== undefined) columns.set(relation, 'entity_id')
    }
  }
  // A function of the database builds it from a list of views.
  columns.set('notified_resources', 'entity_id')
  return columns
}

/** The tables and views that a distributed server has on its coordinator alone. */
export function readCoordinatorRelations(): ReadonlySet<string> {
  const tenants = readTenantColumns()
  const found = new Set<string>()
  for (const { text } of readMigrations()) {
    for (const { stmt } of parseSync(text).stmts ?? []) {
      const table = partOf(stmt as Part, 'CreateStmt')
      const view = partOf(stmt as Part, 'ViewStmt')
      if (table) {
        const name = nameOf(partOf(table, 'relation')!, 'relname')
        if (tableKind({ name, hasEntityId: tenants.has(name) }) === 'local') found.add(name)
      }
      if (view && namesIn(partOf(view, 'query')!, 'RangeVar', 'relname').some((name) => found.has(name)))
        found.add(nameOf(partOf(view, 'view')!, 'relname'))
    }
  }
  return found
}

function tenantRelationOf(statement: Part): string | undefined {
  const table = partOf(statement, 'CreateStmt')
  if (table) {
    const names = partsOf(table, 'tableElts').map((each) => partOf(each, 'ColumnDef')?.['colname'])
    return names.includes('entity_id') ? nameOf(partOf(table, 'relation')!, 'relname') : undefined
  }
  const view = partOf(statement, 'ViewStmt')
  if (!view) return undefined
  const query = partOf(partOf(view, 'query')!, 'SelectStmt')!
  return isOfTenants(query) ? nameOf(partOf(view, 'view')!, 'relname') : undefined
}

/** Whether a query has a column `entity_id`. */
function isOfTenants(query: Part): boolean {
  const left = partOf(query, 'larg')
  if (left) return isOfTenants(left)
  return partsOf(query, 'targetList').some((each) => {
    const target = partOf(each, 'ResTarget')!
    const column = partOf(partOf(target, 'val')!, 'ColumnRef')
    return (target['name'] ?? (column && stringsOf(column, 'fields').at(-1))) === 'entity_id'
  })
}
