import { ApiError } from '#lib/errors'
import { firstIdAt } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { allOf, type Db, join, raw, type Sql, sql } from '#runtime/db/db'
import type { PageQuery } from './query.ts'

/** The source of a list's items. Every source has the columns `id` and `create_date`. */
export type Source = {
  /** The selected columns. */
  columns: Sql
  /** The table or join after `from`. */
  from: Sql
  /** The alias that owns `id` and `create_date`. */
  alias: string
  /** The condition on the owner of the items; also true for deleted items, which stay valid cursors. */
  scope: Sql
  /** The client's filters; a cursor is valid for them only. */
  filters: (Sql | undefined)[]
  /**
   * A filter by several values of a column. The items of each value are read from its own index, as far as the page reaches, and
   * few values are merged in the order of the page, many are sorted: a condition on all values at once would sort all that it finds.
   * The columns include both keys then.
   */
  among?: { column: Sql; type: 'uuid' | 'text'; values: readonly string[] } | undefined
  /** Where cursors are looked up, if `from` has only items that the filters let pass: the others stay known. */
  cursors?: Pick<Source, 'from' | 'alias' | 'scope' | 'filters'>
  /** Hides deleted items from pages without making their ids unknown as cursors. */
  visible?: Sql
  /** The ids begin with the date, as those of `newId` do, and an index has them alone: the order of ids is that of dates. */
  hasDatedIds?: boolean | undefined
}

export type Page<Row> = { rows: Row[]; hasNext: boolean; hasPrev: boolean }

type Keyed = { id: string }

/**
 * Reads one page by keyset on (create_date, id), so that a page at any depth costs as much as the first one.
 * The fast path is a single query, which looks up the cursor itself; only an empty result needs a second one.
 */
export async function readPage<Row extends Keyed>(
  db: Db,
  source: Source,
  page: PageQuery,
): Promise<Page<Row>> {
  const cursorId = page.pageAfter ?? page.pageBefore
  if (cursorId === undefined) return firstPage(db, source, page)
  const backwards = page.pageBefore !== undefined
  const rows = await read<Row>(db, source, page, { cursorId, backwards })
  if (rows.length > 0) return trim(rows, page, backwards)
  const state = await cursorState(db, source, page, cursorId)
  if (state === 'unknown') throw cursorUnknown(page)
  if (state === 'filtered') return firstPage(db, source, page)
  return backwards ? firstPage(db, source, page) : { rows: [], hasNext: false, hasPrev: true }
}

const firstPage = async <Row extends Keyed>(db: Db, source: Source, page: PageQuery): Promise<Page<Row>> =>
  first(await read<Row>(db, source, page), page)

const first = <Row>(rows: readonly Row[], { pageSize }: PageQuery): Page<Row> => ({
  rows: rows.slice(0, pageSize),
  hasNext: rows.length > pageSize,
  hasPrev: false,
})

function trim<Row>(rows: Row[], page: PageQuery, backwards: boolean): Page<Row> {
  const more = rows.length > page.pageSize
  const kept = rows.slice(0, page.pageSize)
  return backwards
    ? { rows: kept.reverse(), hasNext: true, hasPrev: more }
    : { rows: kept, hasNext: more, hasPrev: true }
}

/**
 * Reads one page of several sources as one list, of one at least. All select the same columns in the same order, and no item is in
 * two of them. A source that the filters exclude is among them with a filter that nothing passes: its items stay valid cursors.
 * Each source is read from its own index, as far as the page reaches, and what is left is sorted: whatever a list holds, a page
 * costs as much as one page of each source.
 */
export async function readMergedPage<Row extends Keyed>(
  db: Db,
  sources: readonly Source[],
  page: PageQuery,
): Promise<Page<Row>> {
  const [only, ...others] = sources
  if (only && others.length === 0) return readPage(db, only, page)
  const cursorId = page.pageAfter ?? page.pageBefore
  if (cursorId === undefined) return firstMergedPage(db, sources, page)
  const found = await mergedCursor(db, sources, page, cursorId)
  if (!found) throw cursorUnknown(page)
  if (!found.matched) return firstMergedPage(db, sources, page)
  const backwards = page.pageBefore !== undefined
  const rows = await readMerged<Row>(db, sources, page, { ...found, cursorId, backwards })
  if (rows.length > 0) return trim(rows, page, backwards)
  return backwards ? firstMergedPage(db, sources, page) : { rows: [], hasNext: false, hasPrev: true }
}

const firstMergedPage = async <Row extends Keyed>(
  db: Db,
  sources: readonly Source[],
  page: PageQuery,
): Promise<Page<Row>> => first(await readMerged<Row>(db, sources, page), page)

/** The date of the cursor's item, and whether the filters of a source let it pass: of another source they may be unknown. */
const mergedCursor = (db: Db, sources: readonly Source[], page: PageQuery, cursorId: string) =>
  db.maybe<{ createDate: string; matched: boolean }>(
    sql`select c.create_date, c.matched from (${join(
      sources.map(sourceOfCursors).map((source) => {
        const matched = allOf([...inRange(page, source), ...conditionsOf(source)])
        return sql`select ${raw(`${source.alias}.create_date`)}, ${matched} as matched from ${source.from}
        where ${source.scope} and ${raw(`${source.alias}.id`)} = ${cursorId}`
      }),
      ' union all ',
    )}) c order by c.matched desc nulls last limit 1`,
  )

type Anchor = { cursorId: string; backwards: boolean }

function readMerged<Row>(
  db: Db,
  sources: readonly Source[],
  page: PageQuery,
  anchor?: Anchor & { createDate: string },
): Promise<Row[]> {
  const order = orderOf(page, anchor)
  const branches = sources.map((source) => {
    const cursor =
      anchor &&
      (source.hasDatedIds
        ? sql`${anchor.cursorId}::uuid`
        : sql`(${anchor.createDate}::timestamptz, ${anchor.cursorId}::uuid)`)
    return sql`(${selectPage(source, page, order, cursor)})`
  })
  return db.all<Row>(merge(branches, { hasDatedIds: sources.every((each) => each.hasDatedIds) }, page, order))
}

/** Merges the pages of branches, of which each is in the order of the list. */
const merge = (
  branches: readonly Sql[],
  { hasDatedIds }: Pick<Source, 'hasDatedIds'>,
  page: PageQuery,
  order: SortOrder,
): Sql =>
  sql`select * from (${join(branches, ' union all ')}) m
    order by ${orderBy({ alias: 'm', hasDatedIds }, order)} limit ${page.pageSize + 1}`

const sourceOfCursors = (source: Source): Source => ({ ...source, ...source.cursors })

function read<Row>(db: Db, source: Source, page: PageQuery, anchor?: Anchor): Promise<Row[]> {
  const known = sourceOfCursors(source)
  // Found by its id, and compared with the filters afterwards: an index of a filter can look shorter and be read from end to end.
  const cursor =
    anchor &&
    sql`(select ${keyOf(known)} from ${known.from} where ${known.scope} and ${raw(`${known.alias}.id`)} = ${anchor.cursorId}
    and case when ${allOf([...inRange(page, known), ...conditionsOf(known)])} then true end)`
  return db.all<Row>(selectPage(source, page, orderOf(page, anchor), cursor))
}

type SortOrder = 'asc' | 'desc'

const orderOf = (page: PageQuery, anchor: Anchor | undefined): SortOrder =>
  (page.order === 'DESC') !== (anchor?.backwards ?? false) ? 'desc' : 'asc'

/** The columns that order a source. */
const keysOf = ({ alias, hasDatedIds }: DatedSource): Sql[] =>
  (hasDatedIds ? ['id'] : ['create_date', 'id']).map((name) => raw(`${alias}.${name}`))

const keyOf = (source: DatedSource): Sql => join(keysOf(source), ', ')

/** The client's filters, that by several values included. */
const conditionsOf = ({ filters, among }: Source): (Sql | undefined)[] => [
  ...filters,
  among && sql`${among.column} = any(${among.values}${raw(`::${among.type}[]`)})`,
]

/** The most values of a filter that are merged: each further one takes time to plan. */
const mergedMax = 5

/** Selects what is behind the cursor, one row more than the page holds, to know whether there is a further page. */
function selectPage(source: Source, page: PageQuery, direction: SortOrder, cursor: Sql | undefined): Sql {
  const { among, ...rest } = source
  if (!among) return selectOrdered(rest, page, direction, cursor)
  const ofValue = (value: Sql) =>
    selectOrdered(
      { ...rest, filters: [...rest.filters, sql`${among.column} = ${value}`] },
      page,
      direction,
      cursor,
    )
  const values = [...new Set(among.values)]
  if (values.length > 0 && values.length <= mergedMax) {
    const pages = values.map((value) => ofValue(sql`${value}${raw(`::${among.type}`)}`))
    const [only, ...others] = pages
    return others.length === 0
      ? only!
      : merge(
          pages.map((each) => sql`(${each})`),
          rest,
          page,
          direction,
        )
  }
  const each = ofValue(raw('chosen.value'))
  return sql`select p.* from (select distinct v as value from unnest(${among.values}${raw(`::${among.type}[]`)}) v) chosen
    cross join lateral (${each}) p
    order by ${orderBy({ ...rest, alias: 'p' }, direction)} limit ${page.pageSize + 1}`
}

function selectOrdered(source: Source, page: PageQuery, direction: SortOrder, cursor: Sql | undefined): Sql {
  const descending = direction === 'desc'
  const past = cursor && sql`(${keyOf(source)}) ${raw(descending ? '<' : '>')} ${cursor}`
  // The cursor is in the range and so bounds this side of it. With both conditions, PostgreSQL would enter the index at
  // the end of the range and scan from there to the cursor.
  const range = past ? [descending ? since(page, source) : upTo(page, source)] : inRange(page, source)
  const where = allOf([source.scope, source.visible, ...range, ...source.filters, past])
  return sql`select ${source.columns} from ${source.from} where ${where}
    order by ${orderBy(source, direction)} limit ${page.pageSize + 1}`
}

const orderBy = (source: DatedSource, direction: SortOrder): Sql =>
  join(
    keysOf(source).map((key) => sql`${key} ${raw(direction)}`),
    ', ',
  )

type DatedSource = Pick<Source, 'alias' | 'hasDatedIds'>

const inRange = (page: PageQuery, source: DatedSource) => [upTo(page, source), since(page, source)]

const upTo = ({ toMs }: PageQuery, { alias, hasDatedIds }: DatedSource): Sql =>
  hasDatedIds
    ? sql`${raw(`${alias}.id`)} < ${firstIdAt(toMs + 1)}::uuid`
    : sql`${raw(`${alias}.create_date`)} <= ${formatInstant(toMs)}`

const since = ({ fromMs }: PageQuery, { alias, hasDatedIds }: DatedSource): Sql | undefined => {
  if (fromMs === undefined) return undefined
  return hasDatedIds
    ? sql`${raw(`${alias}.id`)} >= ${firstIdAt(fromMs)}::uuid`
    : sql`${raw(`${alias}.create_date`)} >= ${formatInstant(fromMs)}`
}

async function cursorState(db: Db, paged: Source, page: PageQuery, cursorId: string) {
  const source = sourceOfCursors(paged)
  const matched = allOf([...inRange(page, source), ...conditionsOf(source)])
  const row = await db.maybe<{ matched: boolean }>(sql`select ${matched} as matched from ${source.from}
    where ${source.scope} and ${raw(`${source.alias}.id`)} = ${cursorId}`)
  if (!row) return 'unknown'
  return row.matched ? 'matched' : 'filtered'
}

export function cursorUnknown(page: PageQuery): ApiError {
  const location = page.pageAfter ? 'pageAfter' : 'pageBefore'
  const message = `Cannot find the item of the page cursor ${location}: start again from the first page.`
  return new ApiError('cursorNotFound', message, [
    { error: 'invalid_value', message, location, invalidValue: page.pageAfter ?? page.pageBefore },
  ])
}
