import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '#lib/ids'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { migrate } from '#runtime/db/migrate'
import { openCluster, openStandby, systemPostgres } from '#testing/databases/system-postgres'
import type { Figure, Value } from './figures.ts'
import { openHttpConnection, requestsPerSecond } from './load.ts'
import { measureBusyCores } from './machine.ts'
import { cpuMsOfTree } from './process-tree.ts'
import { compiled, startProgram } from './processes.ts'
import { insertTransactions } from './rows.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'

const path = '/v1/w3s/transactions?pageSize=50'
const connections = 8
/** Commits of a second that another entity makes meanwhile, with a row of a kilobyte each. */
const commitsPerSecond = 200

const settings = ['shared_preload_libraries=pg_stat_statements']

export const replicasBench: Bench = {
  name: 'replicas',
  about: 'pages of a list from a streaming replica, and what is left for the primary',
  measure: async (run) => {
    const folder = systemPostgres()
    if (folder === undefined) {
      run.report('left out: it needs a PostgreSQL of the system')
      return []
    }
    const servers = await startServers(run, folder)
    const figures: Figure[] = []
    for (const isWritten of [false, true]) figures.push(...(await measure(run, servers, isWritten)))
    return figures
  },
}

type Api = { url: string; headers: { authorization: string } }
type Servers = Record<'own' | 'replicated', Api> & {
  primary: Database
  standby: Database
  primaryPid: number
}

/** The function that rows need, which PostgreSQL has from 18 on: its own takes precedence. */
const uuidv7 = `create function uuidv7(shift interval) returns uuid language sql as $$
  select (lpad(to_hex((extract(epoch from now() + shift) * 1000)::int8), 12, '0')
    || '7' || left(md5(random()::text), 3) || '8' || left(md5(random()::text), 15))::uuid $$`

/** A primary and its standby on this machine, and two APIs: one reads from the primary, one from the standby. */
async function startServers(run: Run, folder: string): Promise<Servers> {
  const cluster = await openCluster(folder, settings)
  run.atEnd(cluster.close)
  const urlOf = (port: number) => `postgresql://postgres@127.0.0.1:${port}/postgres`
  const DATABASE_URL = urlOf(cluster.port)
  await migrate({ url: DATABASE_URL })
  const primary = openAsOwner({ url: DATABASE_URL }, 4)
  run.atEnd(primary.close)
  await primary.script(`create extension pg_stat_statements; create table written (n bigserial, filler text);
    ${uuidv7}`)
  const entityId = newId(Date.now())
  const key = await primary.tx(async (tx) => {
    const nowMs = Date.now()
    await insertEntity(tx, { id: entityId, environment: 'TEST', name: 'Bench', nowMs })
    return insertApiKey(tx, { entityId, environment: 'TEST', nowMs })
  })
  const rows = run.amount(100_000, 20_000, 500)
  await insertTransactions(primary, entityId, rows, (done) => run.report(`${done} rows inserted`))
  const replica = await openStandby(folder, cluster, settings)
  run.atEnd(replica.close)
  const standby = openAsOwner({ url: urlOf(replica.port) }, 2)
  run.atEnd(standby.close)
  const root = { BEZANT_ROOT_KEY: randomBytes(32).toString('hex'), BEZANT_REQUEST_LOG: 'off' }
  const start = async (env: Record<string, string>, isReady: (text: string) => boolean) => {
    const args = ['serve', '--port', '0', '--data-dir', await run.directory()]
    const lines: string[] = []
    await startProgram(run, {
      args: [(await compiled()).bezant, ...args],
      env: { DATABASE_URL, ...root, ...env },
      readyOn: 'stderr',
      isReady: (text) => lines.push(text) > 0 && isReady(lines.join('\n')),
    })
    const { url } = JSON.parse(lines.find((line) => line.includes('"url"'))!) as { url: string }
    return { url, headers: { authorization: `Bearer ${key.text}` } }
  }
  return {
    primary,
    standby,
    primaryPid: cluster.pid,
    own: await start({}, (said) => said.includes('"url"')),
    replicated: await start(
      { BEZANT_READ_DATABASE_URL: urlOf(replica.port) },
      (said) => said.includes('"url"') && said.includes('is used'),
    ),
  }
}

/** The cost of a request, on average. */
type Costs = { statements: number; primaryMs: number; pagesOfStandby: number }

async function measure(run: Run, servers: Servers, isWritten: boolean): Promise<Figure[]> {
  const costs: Record<'own' | 'replicated', Costs[]> = { own: [], replicated: [] }
  const seconds = run.amount(4, 2, 0.2)
  const writer = isWritten ? startWriter(servers.primary) : undefined
  const load = (name: 'own' | 'replicated') => async () => {
    const before = await readCosts(servers)
    const startedMs = performance.now()
    const perSecond = await requestsPerSecond({ ...servers[name], path }, connections, seconds * 1_000)
    const requests = (perSecond * (performance.now() - startedMs)) / 1_000
    const after = await readCosts(servers)
    costs[name].push({
      statements: (after.statements - before.statements) / requests,
      // The system counts ticks of 10 ms: a short load may have none.
      primaryMs: Math.max(10, after.primaryMs - before.primaryMs) / requests,
      pagesOfStandby: (after.pagesOfStandby - before.pagesOfStandby) / requests,
    })
    return perSecond
  }
  for (const name of ['own', 'replicated'] as const) {
    const { call, close } = await openHttpConnection({ ...servers[name], path })
    for (let count = 0; count < run.amount(200, 50, 2); count++) await call()
    close()
  }
  const busy = measureBusyCores()
  const rounds = await alternateRounds(run.amount(9, 3, 1), {
    replicated: load('replicated'),
    own: load('own'),
  })
  const coresBusy = busy()
  await writer?.()
  const of = (name: 'own' | 'replicated', cost: keyof Costs) => costs[name].map((each) => each[cost])
  const when = isWritten ? `, ${commitsPerSecond} commits/s of another entity meanwhile` : ''
  const compared = (name: string, unit: Value['unit'], cost: keyof Costs): Figure => ({
    name: `${name}${when}`,
    measured: { value: median(of('replicated', cost)), unit },
    reference: { value: median(of('own', cost)), unit, what: 'without a replica' },
    ratio: ratioOf(of('replicated', cost), of('own', cost)),
    coresBusy,
  })
  return [
    {
      name: `pages of a list, from a replica on the same machine${when}`,
      measured: { value: median(rounds.replicated), unit: 'requests/s' },
      reference: { value: median(rounds.own), unit: 'requests/s', what: 'without a replica' },
      ratio: ratioOf(rounds.replicated, rounds.own),
      coresBusy,
    },
    compared('statements on the primary for a page', 'statements', 'statements'),
    {
      ...compared('time of cores of the primary for a page', 'ms', 'primaryMs'),
      // The commits take time of cores too.
      ...(!isWritten && { promise: { ratioMax: 0.5 } }),
    },
    {
      name: `share of the pages that the replica served${when}`,
      measured: { value: median(of('replicated', 'pagesOfStandby')) * 100, unit: '%' },
      coresBusy,
    },
  ]
}

/** Statements that were sent to the primary, its time of cores, and pages of the list that the standby has read. */
async function readCosts({ primary, standby, primaryPid }: Servers): Promise<Costs> {
  const primaryMs = cpuMsOfTree(primaryPid)
  const counted = sql`select coalesce(sum(calls) filter (where query !~ 'pg_stat_statements|written'), 0)::int8 as all_calls,
      coalesce(sum(calls) filter (where query ~* ${'^\\s*(select|with)\\y.*\\ytransactions\\y'}), 0)::int8 as pages
    from pg_stat_statements`
  type Row = { allCalls: number; pages: number }
  const [own, other] = [await primary.one<Row>(counted), await standby.one<Row>(counted)]
  return { statements: own.allCalls, primaryMs, pagesOfStandby: other.pages }
}

/** Commits at a rate until it is stopped. */
function startWriter(database: Database): () => Promise<void> {
  let isOver = false
  const write = async () => {
    const startedMs = performance.now()
    for (let count = 0; !isOver; count++) {
      await database.run(sql`insert into written (filler) values (${'x'.repeat(1_000)})`)
      await sleep(Math.max(0, startedMs + (count * 1_000) / commitsPerSecond - performance.now()))
    }
  }
  const writing = write()
  return () => {
    isOver = true
    return writing
  }
}
