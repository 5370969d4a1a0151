import { cursorUnknown, type Page } from './page.ts'
import type { PageQuery } from './query.ts'

/** A list that a process keeps in memory, newest first. */
type KeptList<Row> = {
  rows: readonly Row[]
  dateMsOf: (row: Row) => number
  /** The client's filters; a cursor is valid for them only. */
  matches: (row: Row) => boolean
}

/** Returns one page of a list in memory, under the rules of `readPage`. */
export function keptPage<Row extends { id: string }>(
  { rows, dateMsOf, matches }: KeptList<Row>,
  page: PageQuery,
): Page<Row> {
  const { pageSize, pageAfter, pageBefore, fromMs = Number.NEGATIVE_INFINITY, toMs } = page
  const found = rows.filter((row) => dateMsOf(row) >= fromMs && dateMsOf(row) <= toMs && matches(row))
  const first = { rows: found.slice(0, pageSize), hasNext: found.length > pageSize, hasPrev: false }
  const cursorId = pageAfter ?? pageBefore
  if (cursorId === undefined) return first
  if (!rows.some(({ id }) => id === cursorId)) throw cursorUnknown(page)
  const at = found.findIndex(({ id }) => id === cursorId)
  if (at < 0) return first
  if (pageAfter !== undefined) {
    const later = found.slice(at + 1)
    return { rows: later.slice(0, pageSize), hasNext: later.length > pageSize, hasPrev: true }
  }
  if (at === 0) return first
  return { rows: found.slice(Math.max(0, at - pageSize), at), hasNext: true, hasPrev: at > pageSize }
}
