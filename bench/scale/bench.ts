import { sql } from '#runtime/db/db'
import type { Figure, Value } from '../figures.ts'
import { firstPage } from '../first-page.ts'
import { accept } from '../intake.ts'
import { pageStatement } from '../lists.ts'
import { requestsPerSecond } from '../load.ts'
import type { Bench } from '../run.ts'
import { until } from '../until.ts'
import { databaseLimit } from './database-limit.ts'
import {
  customerAt,
  type Measured,
  measured,
  openSetup,
  type Process,
  type Setup,
  startProcesses,
} from './setup.ts'

/** Processes of a kind that share one PostgreSQL. */
const counts = [1, 2, 4] as const
/** Callers of all API processes together. */
const callers = 8
const patience = { everyMs: 50, patienceMs: 900_000 }
const page = '/v1/w3s/transactions?pageSize=50'

export const scaleBench: Bench = {
  name: 'scale',
  about: 'intake, lists, and a backlog with its webhooks by 1, 2 and 4 processes on one PostgreSQL',
  measure: async (run) => {
    const setup = await openSetup(run)
    const intake: Measured[] = []
    const lists: Measured[] = []
    const drain: Measured[] = []
    const webhooks: Measured[] = []
    // To see that it works, two of each are as good as four.
    for (const count of counts.slice(0, run.amount(3, 3, 2))) {
      const servers = await startProcesses(setup, 'serve', count)
      const workers = await startProcesses(setup, 'worker', count)
      // They would drain what is accepted at once; frozen, they all begin at one moment.
      signal(workers, 'SIGSTOP')
      intake.push(await measureIntake(setup, servers))
      lists.push(await measureLists(setup, servers))
      await Promise.all(servers.map(({ stop }) => stop()))
      const drained = await measureDrain(setup, workers)
      await Promise.all(workers.map(({ stop }) => stop()))
      run.report(`${count} of each: accepted, read, drained and delivered`)
      drain.push(drained.drain)
      webhooks.push(drained.webhooks)
    }
    const limit = await listLimit(setup)
    return [
      ...figuresOf('transfers accepted over HTTP', 'requests/s', intake),
      ...figuresOf('first pages of 50 transactions read over HTTP', 'requests/s', lists),
      ...limitFigures(lists, limit),
      ...figuresOf('transfers of a backlog until a block has them and the books know', 'tx/s', drain),
      ...figuresOf('webhooks of that backlog delivered', 'messages/s', webhooks),
    ]
  },
}

const signal = (processes: readonly Process[], name: 'SIGSTOP' | 'SIGCONT') => {
  for (const { child } of processes) child.kill(name)
}

const backlogOf = ({ run }: Setup) => run.amount(2_000, 400, 4)

function measureIntake(setup: Setup, servers: readonly Process[]): Promise<Measured> {
  const perServer = backlogOf(setup) / servers.length
  return measured(setup, servers, async () => {
    await Promise.all(servers.map((server) => accept(setup.run, customerAt(setup, server), perServer)))
    return perServer * servers.length
  })
}

function measureLists({ run, ...setup }: Setup, servers: readonly Process[]): Promise<Measured> {
  const durationMs = run.amount(5_000, 2_000, 200)
  const headers = { authorization: `Bearer ${setup.platform.ready.apiKey}` }
  const each = Math.max(1, callers / servers.length)
  return measured({ run, ...setup }, servers, async () => {
    const speeds = await Promise.all(
      servers.map(({ url }) => requestsPerSecond({ url, path: page, headers }, each, durationMs)),
    )
    return Math.round(speeds.reduce((sum, speed) => sum + speed, 0) * (durationMs / 1_000))
  })
}

/** Lets the workers drain what was accepted; their webhooks arrive meanwhile, and those that are left afterwards. */
async function measureDrain(setup: Setup, workers: readonly Process[]) {
  const { database, delivered } = setup
  const before = delivered()
  signal(workers, 'SIGCONT')
  const isDrained = async () => {
    const { n } = await database.one<{ n: number }>(sql`select count(*)::int as n from transactions
      where transaction_type = 'OUTBOUND' and state in ('INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK')`)
    return n === 0
  }
  const isDelivered = async () => {
    const { n } = await database.one<{ n: number }>(sql`select (select count(*) from queued_events)
      + (select count(*) from notification_deliveries where state = 'waiting') as n`)
    return n === 0
  }
  let drain: Measured | undefined
  const webhooks = await measured(setup, workers, async () => {
    drain = await measured(setup, workers, async () => {
      await until(isDrained, 'the backlog is drained', patience)
      return backlogOf(setup)
    })
    await until(isDelivered, 'all webhooks are delivered', patience)
    return delivered() - before
  })
  return { drain: drain!, webhooks }
}

/** Executions per second, by the database alone, of the statement that a page is read with. */
async function listLimit({ run, platform, database }: Setup): Promise<number | undefined> {
  const { entityId } = await database.one<{ entityId: string }>(sql`select entity_id from wallets limit 1`)
  const statement = await pageStatement(entityId, {}, firstPage(50))
  return databaseLimit(run, platform.ready.connection, statement)
}

const processes = (index: number) => `${counts[index]} ${counts[index] === 1 ? 'process' : 'processes'}`

/** The speed with each number of processes beside that with one, and the time of cores of each piece. */
function figuresOf(what: string, unit: Value['unit'], series: readonly Measured[]): Figure[] {
  const [one] = series
  return series.flatMap(({ perSecond, processMs, databaseMs, coresBusy }, index) => [
    {
      name: `${what}, ${processes(index)}`,
      measured: { value: perSecond, unit },
      ...(index > 0 && {
        reference: { value: one!.perSecond, unit, what: 'by one' },
        ratio: perSecond / one!.perSecond,
      }),
      coresBusy,
    },
    {
      name: `${what}, ${processes(index)}: time of a core for each`,
      measured: { value: processMs, unit: 'ms' },
      reference: { value: databaseMs, unit: 'ms', what: 'of PostgreSQL' },
      coresBusy,
    },
  ])
}

function limitFigures(lists: readonly Measured[], limit: number | undefined): Figure[] {
  if (limit === undefined) return []
  const best = Math.max(...lists.map(({ perSecond }) => perSecond))
  return [
    {
      name: 'first pages of 50 transactions, the fastest of these',
      measured: { value: best, unit: 'requests/s' },
      reference: { value: limit, unit: 'requests/s', what: 'by pgbench, the same statement' },
      ratio: best / limit,
      coresBusy: lists[0]!.coresBusy,
    },
  ]
}
