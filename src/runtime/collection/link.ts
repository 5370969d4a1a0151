import { formatInstant } from '#lib/time'
import type { Page } from './page.ts'
import type { PageQuery } from './query.ts'

/** What the addresses of one answer's Link header are made from. */
export type LinkInput = {
  /** Absolute, from configuration: never from the Host header, which a client writes. */
  baseUrl: string
  path: string
  /** The parameters of the client's query that the operation knows; every address keeps the filters among them. */
  query: Record<string, unknown>
  page: PageQuery
  found: Page<{ id: string }>
}

/**
 * The Link header (RFC 8288) of a page: self and first always, next and prev where there is such a page.
 * Every address carries `to` and `pageSize`, so that pages do not move while items arrive.
 */
export function linkHeader(input: LinkInput): string {
  const { page, found } = input
  // Before an empty page, which lies behind the last item, stands what comes before the item it was asked for by.
  const first = found.rows[0]?.id ?? page.pageAfter
  const last = found.rows.at(-1)?.id
  const own = page.pageAfter
    ? { pageAfter: page.pageAfter }
    : page.pageBefore
      ? { pageBefore: page.pageBefore }
      : {}
  const links = [entry(input, own, 'self'), entry(input, {}, 'first')]
  if (found.hasNext && last) links.push(entry(input, { pageAfter: last }, 'next'))
  if (found.hasPrev && first) links.push(entry(input, { pageBefore: first }, 'prev'))
  return links.join(', ')
}

function entry(input: LinkInput, cursor: Record<string, string>, rel: string): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(input.query)) {
    if (['pageAfter', 'pageBefore', 'pageSize', 'to'].includes(name)) continue
    for (const item of Array.isArray(value) ? value : [value]) parameters.append(name, String(item))
  }
  parameters.set('pageSize', String(input.page.pageSize))
  parameters.set('to', formatInstant(input.page.toMs))
  for (const [name, value] of Object.entries(cursor)) parameters.set(name, value)
  return `<${input.baseUrl}${input.path}?${parameters}>; rel="${rel}"`
}
