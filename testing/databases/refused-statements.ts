import { kindOf, type PlacedTables, type StatementKind } from './statement-kinds.ts'
import { readCoordinatorRelations, readTenantColumns } from './tenant-columns.ts'

/** Statements of no kind that a distributed server needs not run, by a part of their text, and why. */
const exempt: Readonly<Record<string, string>> = {
  'update journal_epochs set incarnation':
    'tells a restored sandbox, which has one server, from the one before',
  "'owed' as part": 'compares the sums of all merchants with the books, from one view of the database',
}

let tables: PlacedTables | undefined
const kinds = new Map<string, StatementKind | { refused: string } | undefined>()

/** The statements that are of no kind, each with the reason. */
export const refusedStatements = (texts: Iterable<string>): string[] =>
  [...texts].flatMap((text) => {
    const kind = sentKindOf(text)
    if (typeof kind !== 'object' || Object.keys(exempt).some((part) => text.includes(part))) return []
    return `${kind.refused}: ${text}`
  })

/** The kind of a statement that the program sent; undefined for one that neither reads nor writes rows. */
export function sentKindOf(text: string): StatementKind | { refused: string } | undefined {
  if (!kinds.has(text)) {
    tables ??= { tenantColumns: readTenantColumns(), ofCoordinator: readCoordinatorRelations() }
    kinds.set(text, isOfRows.test(text) ? kindOf(text, tables) : undefined)
  }
  return kinds.get(text)
}

const isOfRows = /^\s*(with|select|insert|update|delete)\b/i
