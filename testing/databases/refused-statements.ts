import { kindOf, type TenantColumns } from './statement-kinds.ts'
import { readTenantColumns } from './tenant-columns.ts'

/** Statements of no kind that a distributed server needs not run, by a part of their text, and why. */
const exempt: Readonly<Record<string, string>> = {
  'update journal_epochs set incarnation':
    'tells a restored sandbox, which has one server, from the one before',
  "'owed' as part": 'compares the sums of all merchants with the books, from one view of the database',
}

let columns: TenantColumns | undefined
const judged = new Map<string, string | undefined>()

/** The statements that are of no kind, each with the reason. */
export const refusedStatements = (texts: Iterable<string>): string[] =>
  [...texts].flatMap((text) => {
    if (!judged.has(text)) judged.set(text, faultOf(text))
    return judged.get(text) ?? []
  })

function faultOf(text: string): string | undefined {
  if (!/^\s*(with|select|insert|update|delete)\b/i.test(text)) return undefined
  columns ??= readTenantColumns()
  const kind = kindOf(text, columns)
  if (typeof kind === 'string' || Object.keys(exempt).some((part) => text.includes(part))) return undefined
  return `${kind.refused}: ${text}`
}
