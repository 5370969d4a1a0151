import Type, { type TProperties } from 'typebox'
import { ApiError, invalid } from '#lib/errors'
import { isUuid } from '#lib/ids'
import { instantRule, parseInstant } from '#lib/time'
import type { LogForm } from '#runtime/request-log/forms'

/** Options of a list route beyond its own filters. */
export type Collection = {
  pageSizeDefault: number
  pageSizeMax: number
  /** Whether the client may choose `order`. */
  order: boolean
  /** The names of the parameters of the range of dates: `from` and `to`, where those are not filters of the list. */
  dates?: { from: string; to: string }
}

const usualDates = { from: 'from', to: 'to' }

/** The name of the parameter by which links keep the end of the range. */
export const endNameOf = ({ dates = usualDates }: Collection): string => dates.to

export const walletCollection: Collection = { pageSizeDefault: 10, pageSizeMax: 50, order: false }
export const orderedWalletCollection: Collection = { ...walletCollection, order: true }
export const businessCollection: Collection = { pageSizeDefault: 50, pageSizeMax: 50, order: false }

/** The requested page, validated and with its defaults filled in. */
export type PageQuery = {
  fromMs: number | undefined
  toMs: number
  pageSize: number
  pageAfter: string | undefined
  pageBefore: string | undefined
  order: 'ASC' | 'DESC'
}

/** Returns the query parameters that every list of this kind accepts. */
export function collectionProperties(collection: Collection): TProperties {
  const { pageSizeDefault, pageSizeMax, order, dates = usualDates } = collection
  // Parameters of other names are described at their list alone.
  const shared = (name: string) => (collection.dates ? {} : { '~parameter': name })
  // No examples: the reference page would prefill them and so query an old day only.
  const text = (named: { '~parameter'?: string }, form: LogForm, description: string) =>
    Type.Optional(Type.String({ ...named, '~log': form, description }))
  return {
    [dates.from]: text(shared('From'), 'date', 'Inclusive start of the range of createDate, RFC 3339.'),
    [dates.to]: text(
      shared('To'),
      'date',
      'Inclusive end of the range of createDate, RFC 3339. Default: the time of the request.',
    ),
    pageSize: Type.Optional(
      Type.Integer({
        '~parameter': `PageSize${pageSizeDefault}`,
        minimum: 1,
        default: pageSizeDefault,
        description: `The number of items on a page; more than ${pageSizeMax} is taken as ${pageSizeMax}.`,
      }),
    ),
    pageBefore: text(
      { '~parameter': 'PageBefore' },
      'id',
      'The id of an item: the page that ends right before it.',
    ),
    pageAfter: text(
      { '~parameter': 'PageAfter' },
      'id',
      'The id of an item: the page that starts right after it.',
    ),
    ...(order && {
      order: Type.Optional(
        Type.Enum(['ASC', 'DESC'], {
          '~parameter': 'Order',
          default: 'DESC',
          description: 'The order by createDate.',
        }),
      ),
    }),
  }
}

/** Checks the shared parameters; `receivedMs` is the default of `to`. */
export function parsePageQuery(
  collection: Collection,
  query: Record<string, unknown>,
  receivedMs: number,
): PageQuery {
  const pageAfter = cursor('pageAfter', query)
  const pageBefore = cursor('pageBefore', query)
  if (pageAfter && pageBefore)
    throw invalid({
      at: 'pageBefore',
      reason: 'cannot be combined with pageAfter: send one of them',
      value: pageBefore,
    })
  return {
    ...rangeOf(query, receivedMs, collection.dates ?? usualDates),
    pageSize: Math.min(Number(query['pageSize'] ?? collection.pageSizeDefault), collection.pageSizeMax),
    pageAfter,
    pageBefore,
    order: orderOf(collection, query['order']),
  }
}

/** Returns the order; where the client may not choose it, refuses any order but the list's own instead of ignoring it. */
function orderOf(collection: Collection, order: unknown): PageQuery['order'] {
  if (order === undefined || order === 'DESC') return 'DESC'
  if (collection.order && order === 'ASC') return 'ASC'
  const reason = collection.order
    ? 'must be ASC or DESC'
    : 'is not supported by this list, which shows the newest item first: omit it'
  throw invalid({ at: 'order', reason, value: order })
}

function rangeOf(
  query: Record<string, unknown>,
  receivedMs: number,
  { from, to }: { from: string; to: string },
): Pick<PageQuery, 'fromMs' | 'toMs'> {
  const fromMs = instant(from, query)
  // A range that begins after the request is empty; it ends at its beginning, so that its links remain valid.
  const toMs = instant(to, query) ?? Math.max(receivedMs, fromMs ?? receivedMs)
  if (fromMs === undefined || fromMs <= toMs) return { fromMs, toMs }
  const reasons = { [from]: `is after ${to}`, [to]: `is before ${from}` }
  const fields = Object.entries(reasons).flatMap(
    ([location, reason]) => invalid({ at: location, reason, value: query[location] }).fields,
  )
  throw new ApiError(
    'invalidRequest',
    `API parameter invalid. ${from} is after ${to}: send the earlier date as ${from}.`,
    fields,
  )
}

function cursor(name: string, query: Record<string, unknown>): string | undefined {
  const value = query[name]
  if (value === undefined) return undefined
  if (isUuid(value)) return value.toLowerCase()
  throw new ApiError(
    'cursorNotUuid',
    `The page cursor ${name} is not a UUID: use the URLs of the Link header.`,
    [
      {
        error: 'pattern_mismatch',
        message: `${name} is not a UUID`,
        location: name,
        invalidValue: String(value).slice(0, 200),
      },
    ],
  )
}

function instant(name: string, query: Record<string, unknown>): number | undefined {
  const value = query[name]
  if (value === undefined) return undefined
  const atMs = parseInstant(value)
  if (atMs !== undefined) return atMs
  throw invalid({ at: name, reason: instantRule, value })
}
