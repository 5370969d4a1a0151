import type { PageQuery } from '#runtime/collection/query'
import type { Database, Db, Sql } from '#runtime/db/db'
import { render } from '#runtime/db/sql'
import type { Figure } from '../figures.ts'
import { firstPage } from '../first-page.ts'
import { durationsOf } from '../load.ts'
import { measureBusyCores } from '../machine.ts'
import type { Run } from '../run.ts'
import { alternateRounds, median, ratioOf } from '../statistics.ts'
import type { BigList } from './lists.ts'

const pageSize = 50

/** A page slower than this is timed once: it reads a table as a whole. */
const slowMs = 250

/** One page of a list: its statement, as the handler sends it, and its name. */
export type BigPage = {
  name: string
  read: (db: Db) => Promise<unknown>
  statement: { text: string; values: unknown[] }
}

const newest = firstPage(pageSize)

/** The first page of a list by each filter, and one behind nine tenths of the time that the rows cover. */
export async function pagesOf(
  database: Database,
  entityId: string,
  { reads }: BigList,
  deepMs: number,
): Promise<BigPage[]> {
  const pages: BigPage[] = []
  for (const [name, read] of Object.entries(reads)) {
    const add = async (title: string, query: PageQuery) =>
      pages.push({
        name: title,
        read: (db) => read(db, entityId, query),
        statement: await sentBy(database, (db) => read(db, entityId, query)),
      })
    await add(name, newest)
    const [cursor] = (await read(database, entityId, { ...newest, toMs: deepMs, pageSize: 1 })).rows
    if (cursor) await add(`${name}, deep`, { ...newest, pageAfter: cursor.id })
  }
  return pages
}

/** The last statement that a read sends, which is that of the page. */
async function sentBy(
  database: Database,
  read: (db: Db) => Promise<unknown>,
): Promise<{ text: string; values: unknown[] }> {
  const sent: Sql[] = []
  const noted = { all: 'all', maybe: 'maybe' } as const
  const db = new Proxy(database, {
    get: (target, name, receiver) =>
      name in noted
        ? (query: Sql) => {
            sent.push(query)
            return target[name as keyof typeof noted](query)
          }
        : Reflect.get(target, name, receiver),
  })
  await read(db)
  return render(sent.at(-1)!)
}

/** The slowest page of a list against its first page without a filter. */
export async function measurePages(
  run: Run,
  database: Database,
  { table }: BigList,
  pages: readonly BigPage[],
): Promise<Figure> {
  const calls = run.amount(20, 10, 1)
  const timed = (page: BigPage) => async () => median(await durationsOf(calls, () => page.read(database)))
  const slow = new Map<string, number>()
  for (const page of pages) {
    const [ms] = (await durationsOf(1, () => page.read(database))) as [number]
    const again = ms > slowMs ? (await durationsOf(1, () => page.read(database)))[0]! : 0
    if (again > slowMs) slow.set(page.name, again)
  }
  const first = pages[0]!
  const things = Object.fromEntries(
    pages.filter(({ name }) => !slow.has(name)).map((page) => [page.name, timed(page)]),
  )
  const busy = measureBusyCores()
  const values = await alternateRounds(run.amount(11, 5, 1), things)
  for (const [name, ms] of slow) values[name] = values[first.name]!.map(() => ms)
  const ratios = Object.entries(values).map(([name, list]) => ({
    name,
    ratio: ratioOf(list, values[first.name]!),
  }))
  for (const { name, ratio } of ratios)
    run.report(
      `${table}, ${name}: ${median(values[name]!).toFixed(2)} ms, ${ratio.toFixed(2)} of the first page`,
    )
  const worst = ratios.slice(1).reduce((one, other) => (other.ratio > one.ratio ? other : one))
  return {
    name: `${table}: the slowest of ${pages.length - 1} pages, by filter and depth (${worst.name})`,
    measured: { value: median(values[worst.name]!), unit: 'ms' },
    reference: { value: median(values[first.name]!), unit: 'ms', what: 'first page, no filter' },
    ratio: worst.ratio,
    promise: { ratioMax: 1.5 },
    coresBusy: busy(),
  }
}
