import { formatInstant } from '#lib/time'
import type { Page } from './page.ts'
import type { PageQuery } from './query.ts'

/** Input of one response's Link header. */
type LinkInput = {
  /** Absolute, from configuration: never from the Host header, which the client controls. */
  baseUrl: string
  path: string
  /** The client's query parameters that the operation knows; every link keeps the filters among them. */
  query: Record<string, unknown>
  page: PageQuery
  /** The name of the parameter with the end of the range of dates. */
  endName: string
  found: Page<{ id: string }>
}

/**
 * Returns the Link header (RFC 8288) of a page: self and first always, next and prev where there is such a page.
 * Every link carries the end of the range and `pageSize`, so that pages do not shift while items arrive.
 */
export function linkHeader(input: LinkInput): string {
  const { page, found } = input
  // The page before an empty page, which lies after the last item, ends before the requested cursor's item.
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
    if (['pageAfter', 'pageBefore', 'pageSize', input.endName].includes(name)) continue
    for (const item of Array.isArray(value) ? value : [value]) parameters.append(name, String(item))
  }
  parameters.set('pageSize', String(input.page.pageSize))
  parameters.set(input.endName, formatInstant(input.page.toMs))
  for (const [name, value] of Object.entries(cursor)) parameters.set(name, value)
  return `<${input.baseUrl}${input.path}?${parameters}>; rel="${rel}"`
}
