import type { PageQuery } from '#runtime/collection/query'

/** The query of the first page of a list, newest first, with this many rows. */
export const firstPage = (pageSize: number): PageQuery => ({
  fromMs: undefined,
  toMs: Date.now(),
  pageSize,
  pageAfter: undefined,
  pageBefore: undefined,
  order: 'DESC',
})
