import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listTransactions, type TransactionFilters } from '#engines/transactions/index'
import type { PageQuery } from '#runtime/collection/query'
import { type Database, type Db, type Sql, sql } from '#runtime/db/db'
import { render } from '#runtime/db/sql'
import type { BarePages } from './bare-server.ts'
import type { Figure } from './figures.ts'
import { firstPage } from './first-page.ts'
import { durationsOf, openHttpConnection, requestsPerSecond } from './load.ts'
import { measureBusyCores } from './machine.ts'
import { type Platform, startPlatform } from './platform.ts'
import { compiled, startProgram } from './processes.ts'
import { insertTransactions, walletCount, walletIdOf } from './rows.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'

const pageSize = 50

/** A query of the list: its filters in the URL, and the same filters for the SQL query. */
type ListQuery = { name: string; query: string; filters: TransactionFilters; share: number }

const listQueries: ListQuery[] = [
  { name: 'no filter', query: '', filters: {}, share: 1 },
  walletsQuery('one wallet', 1),
  walletsQuery('three wallets', 3),
  { name: 'state=COMPLETE', query: '&state=COMPLETE', filters: { state: 'COMPLETE' }, share: 0.98 },
  { name: 'state=FAILED', query: '&state=FAILED', filters: { state: 'FAILED' }, share: 0.02 },
]

function walletsQuery(name: string, count: number): ListQuery {
  const walletIds = Array.from({ length: count }, (_, index) => walletIdOf(index + 5))
  return {
    name,
    query: `&walletIds=${walletIds.join('%2C')}`,
    filters: { walletIds },
    share: count / walletCount,
  }
}

/** Pages of which the rate is measured. */
const ratedSizes = [10, 50]
const ratedQueries = listQueries.slice(0, 2)
/** Callers at once. */
const callers = 8

export const listsBench: Bench = {
  name: 'lists',
  about: 'pages of a list of 1,000,000 rows',
  measure: async (run) => {
    const rows = run.amount(1_000_000, 100_000, 2_000)
    const platform = await startPlatform(run, async (database, entityId) => {
      await insertTransactions(database, entityId, rows, (done) => run.report(`${done} rows inserted`))
    })
    const figures: Figure[] = []
    for (const question of listQueries) figures.push(...(await measure(run, platform, question, rows)))
    return [...figures, ...(await measureRates(run, platform))]
  },
}

async function measure(run: Run, platform: Platform, question: ListQuery, rows: number): Promise<Figure[]> {
  const { database, entityId } = platform
  const depth = Math.floor(rows * question.share * 0.9)
  const filters = { ...question.filters }
  const cursor = await itemAt(database, entityId, filters, depth)
  const first = firstPage(pageSize)
  const [firstSql, deepSql] = await Promise.all([
    pageStatement(entityId, filters, first),
    pageStatement(entityId, filters, { ...first, pageAfter: cursor }),
  ])
  const path = `/v1/w3s/transactions?pageSize=${pageSize}${question.query}`
  const [firstCall, deepCall] = await Promise.all([
    openHttpConnection({ ...platform, path }),
    openHttpConnection({ ...platform, path: `${path}&pageAfter=${cursor}` }),
  ])
  const calls = run.amount(60, 30, 1)
  const typical = (call: () => Promise<unknown>) => async () => median(await durationsOf(calls, call))
  const things = {
    first: typical(firstCall.call),
    firstSql: typical(() => database.all(firstSql)),
    deep: typical(deepCall.call),
    deepSql: typical(() => database.all(deepSql)),
  }
  await alternateRounds(3, things)
  const busy = measureBusyCores()
  const values = await alternateRounds(run.amount(15, 5, 1), things)
  const coresBusy = busy()
  firstCall.close()
  deepCall.close()
  run.report(
    `${question.name}: ${Object.entries(values).map(([name, list]) => `${name} ${median(list).toFixed(2)} ms`)}`,
  )
  return figuresOf(question.name, values, depth, coresBusy)
}

/** Requests per second for first pages, against those of a bare server with the same statement and the same bytes. */
async function measureRates(run: Run, platform: Platform): Promise<Figure[]> {
  const { url, entityId, headers } = platform
  const chosen = ratedSizes.flatMap((pageSize) =>
    ratedQueries.map(({ name, query, filters }) => ({
      name: `${name}, ${pageSize} rows`,
      path: `/v1/w3s/transactions?pageSize=${pageSize}${query}`,
      statement: () => pageStatement(entityId, { ...filters }, firstPage(pageSize)),
    })),
  )
  const pages: BarePages = {}
  for (const { path, statement } of chosen) {
    const answer = await fetch(url + path, { headers })
    pages[path] = { ...render(await statement()), body: await answer.text() }
  }
  const settings = join(await run.directory(), 'pages.json')
  await writeFile(settings, JSON.stringify({ connection: platform.connection, pages }))
  const { line } = await startProgram(run, {
    args: [(await compiled()).bareServer, settings],
    readyOn: 'stderr',
    isReady: (text) => text.includes('"url"'),
  })
  const bareUrl = (JSON.parse(line) as { url: string }).url
  const durationMs = run.amount(2_000, 1_000, 50)
  const figures: Figure[] = []
  for (const { name, path } of chosen) {
    const request = { url, path, headers }
    const things = {
      ours: () => requestsPerSecond(request, callers, durationMs),
      bare: () => requestsPerSecond({ ...request, url: bareUrl }, callers, durationMs),
    }
    await alternateRounds(1, things)
    const busy = measureBusyCores()
    const { ours, bare } = await alternateRounds(run.amount(7, 3, 1), things)
    figures.push({
      name: `first pages of a list (${name}) read over HTTP`,
      measured: { value: median(ours), unit: 'requests/s' },
      reference: { value: median(bare), unit: 'requests/s', what: 'a bare server, same SQL and bytes' },
      ratio: ratioOf(ours, bare),
      promise: { ratioMin: 0.7 },
      coresBusy: busy(),
    })
  }
  return figures
}

type Values = Record<'first' | 'firstSql' | 'deep' | 'deepSql', number[]>

function figuresOf(name: string, values: Values, depth: number, coresBusy: number): Figure[] {
  const ms = (list: number[]) => ({ value: median(list), unit: 'ms' as const })
  const compared = (
    title: string,
    measured: number[],
    reference: number[],
    what: string,
    ratioMax: number,
  ) => ({
    name: `list (${name}): ${title}`,
    measured: ms(measured),
    reference: { ...ms(reference), what },
    ratio: ratioOf(measured, reference),
    promise: { ratioMax },
    coresBusy,
  })
  const { first, firstSql, deep, deepSql } = values
  return [
    compared(`page at depth ${depth.toLocaleString('en')}`, deep, first, 'first page', 1.05),
    compared('first page, whole request', first, firstSql, 'its SQL', 1.5),
    compared('deep page, whole request', deep, deepSql, 'its SQL', 1.5),
  ]
}

/** The query that the handler sends for this page, word for word, taken from the handler's own function. */
export async function pageStatement(
  entityId: string,
  filters: TransactionFilters,
  page: PageQuery,
): Promise<Sql> {
  const sent: Sql[] = []
  const recorder = {
    all: async (query: Sql) => {
      sent.push(query)
      return [{ id: 'any' }]
    },
  } as unknown as Db
  await listTransactions(recorder, { entityId }, filters, page)
  return sent[0]!
}

/** The id of the item at this depth, newest first. */
async function itemAt(database: Database, entityId: string, filters: TransactionFilters, depth: number) {
  const { walletIds = null, state = null } = filters
  const row = await database.one<{ id: string }>(sql`select id from transactions where entity_id = ${entityId}
    and (${walletIds}::uuid[] is null or wallet_id = any(${walletIds}::uuid[]))
    and (${state}::text is null or state = ${state})
    order by create_date desc, id desc offset ${depth - 1} limit 1`)
  return row.id
}
