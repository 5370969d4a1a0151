import { replaceEqualDeep } from '@tanstack/svelte-query'
import type { Answer } from '../api/ask.ts'
import type { Row } from '../screens/screen.ts'

type KeptPage<Item> = { address: string; rows: readonly Item[]; next?: string; prev?: string }

/**
 * The pages of a list that a reader has on show. Their rows keep their places however many come in: what changes is the content of
 * a row. `known` has the ids of all rows that were on show since, those of dropped pages too.
 */
export type Kept<Item> = { pages: readonly KeptPage<Item>[]; known: ReadonlySet<string> }

/** Pages in the document at once: the far one is dropped. */
const pagesMax = 10

const pageOf = <Item>(address: string, rows: readonly Item[], { next, prev }: Answer<unknown>) => ({
  address,
  rows,
  next,
  prev,
})
const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id)

/** The rows, each as the object that it was before where nothing of it has changed: what shows it is not drawn again. */
export function shareEqual<Item extends Row>(
  before: readonly Item[],
  rows: readonly Item[],
): readonly Item[] {
  const known = new Map(before.map((row) => [row.id, row]))
  return rows.map((row) => replaceEqualDeep(known.get(row.id), row))
}

/** Keeps the first page, by its own address, which names the instant of the page. */
export const keepFirst = <Item extends Row>(
  path: string,
  rows: readonly Item[],
  answer: Answer<unknown>,
): Kept<Item> => ({
  pages: [pageOf(answer.self ?? path, rows, answer)],
  known: new Set(idsOf(rows)),
})

/** Adds an older or a newer page, without the rows that are on show already. */
export function withPage<Item extends Row>(
  { pages, known }: Kept<Item>,
  end: 'older' | 'newer',
  address: string,
  rows: readonly Item[],
  answer: Answer<unknown>,
): Kept<Item> {
  const shown = new Set(pages.flatMap((page) => idsOf(page.rows)))
  const added = pageOf(
    address,
    rows.filter(({ id }) => !shown.has(id)),
    answer,
  )
  return {
    pages: end === 'older' ? [...pages, added].slice(-pagesMax) : [added, ...pages].slice(0, pagesMax),
    known: new Set([...known, ...idsOf(rows)]),
  }
}

/** Gives the rows their present content. */
export function withContents<Item extends Row>(
  { pages, known }: Kept<Item>,
  rows: readonly Item[],
): Kept<Item> {
  const contents = new Map(rows.map((row) => [row.id, row]))
  const present = (row: Item) => replaceEqualDeep(row, contents.get(row.id) ?? row)
  return { known, pages: pages.map((page) => ({ ...page, rows: page.rows.map(present) })) }
}

/** The newest rows that are not on show; `isMore` where there are more of them than a page has. */
export function waitingFor<Item extends Row>(
  { known }: Kept<Item>,
  newest: readonly Item[],
): { count: number; isMore: boolean } {
  const last = newest.findLastIndex(({ id }) => known.has(id))
  if (last < 0) return { count: newest.length, isMore: newest.length > 0 }
  return { count: newest.slice(0, last).filter(({ id }) => !known.has(id)).length, isMore: false }
}
