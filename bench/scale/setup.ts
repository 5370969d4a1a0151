import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { tenantOf } from '#testing/platform/tenant'
import { openReceiver } from '#testing/servers/receiver'
import { fundWallets } from '../chain.ts'
import { nodeOf } from '../drain/bench.ts'
import { startPlatform } from '../drain/processes.ts'
import { measureBusyCores } from '../machine.ts'
import { cpuMsOfTree } from '../process-tree.ts'
import { compiled, type Started, startProgram } from '../processes.ts'
import type { Run } from '../run.ts'
import { type Customer, callApi, openTenant } from '../tenant.ts'
import { until } from '../until.ts'

const senders = 20
const patience = { everyMs: 50, patienceMs: 900_000 }

export type Setup = {
  run: Run
  platform: Awaited<ReturnType<typeof startPlatform>>
  database: Database
  customer: Customer
  /** The processes that all others of the database come from: one for each of its servers. */
  postmasters: readonly number[]
  /** Number of webhooks that arrived at the endpoint. */
  delivered(): number
}

export type Process = Started & { url: string }

/** A funded customer with a subscription to all webhooks, on a platform without engines. */
export async function openSetup(run: Run): Promise<Setup> {
  const platform = await startPlatform(run, 0)
  const database = openAsOwner(platform.ready.connection, 4)
  run.atEnd(database.close)
  const postmasters = await findPostmasters(database)
  const customer = await openTenant(platform.ready, senders)
  let arrived = 0
  const receiver = await openReceiver(async () => {
    arrived += 1
    receiver.received.length = 0
  })
  run.atEnd(receiver.close)
  const setup = { run, platform, database, customer, postmasters, delivered: () => arrived }
  const [server] = await startProcesses(setup, 'serve', 1)
  await callApi(customerAt(setup, server!).tenant, 'POST', '/v2/notifications/subscriptions', {
    endpoint: receiver.url,
  })
  await server!.stop()
  const [worker] = await startProcesses(setup, 'worker', 1)
  // A chain of production is followed from its newest block on.
  const isFollowed = async () => (await database.all(sql`select 1 from blocks limit 1`)).length > 0
  await until(isFollowed, 'the chain is followed', patience)
  await fundWallets(nodeOf(platform), customer.wallets)
  await until(() => isFunded(setup), 'the wallets have their coins', patience)
  run.report('the wallets have their coins')
  await worker!.stop()
  return setup
}

async function findPostmasters(database: Database): Promise<number[]> {
  const isDistributed = await database.maybe(sql`select 1 from pg_extension where extname = 'citus'`)
  // Its first line; a server asked through the coordinator answers by a process that ends at once.
  const asked = `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int`
  const pids = await database.all<{ pid: number }>(
    isDistributed
      ? sql`select result::int as pid from run_command_on_all_nodes(${asked})`
      : sql`select split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int as pid`,
  )
  return pids.map(({ pid }) => pid)
}

async function isFunded({ database, customer: { wallets } }: Setup): Promise<boolean> {
  const addresses = wallets.map(({ address }) => address.toLowerCase())
  const { n } = await database.one<{ n: number }>(
    sql`select count(*)::int as n from accounts where address = any(${addresses}::text[]) and posted > 0`,
  )
  return n === 2 * addresses.length
}

/** The customer as a client of one of the servers. */
export function customerAt({ customer, platform }: Setup, { url }: Process): Customer {
  const { apiKey, entitySecret } = platform.ready
  return { ...customer, tenant: tenantOf(url, { entityId: '', apiKey, clientKey: '', entitySecret }) }
}

/** Starts processes as an operator does, one after another, on the database and the node of the platform. */
export async function startProcesses(
  { run, platform }: Pick<Setup, 'run' | 'platform'>,
  kind: 'serve' | 'worker',
  count: number,
): Promise<Process[]> {
  const { bezant } = await compiled()
  const { dataDir, rootKey, blockchain, nodeUrl, connection } = platform.ready
  const env = {
    DATABASE_URL: 'url' in connection ? connection.url : '',
    BEZANT_ROOT_KEY: rootKey,
    BEZANT_NETWORKS: JSON.stringify([{ blockchain, rpcUrl: nodeUrl }]),
    BEZANT_NOTIFICATION_TARGETS: 'loopback',
    BEZANT_PAGE_PORT: '0',
  }
  const isReady = (line: string) => line.includes('"msg":"ready"')
  const all: Process[] = []
  while (all.length < count) {
    const args = [bezant, kind, '--port', '0', '--data-dir', dataDir]
    const started = await startProgram(run, { args, env, readyOn: 'stderr', isReady })
    all.push({ ...started, url: (JSON.parse(started.line) as { url: string }).url })
  }
  return all
}

/** Pieces of work per second, and milliseconds of a core for each, of the processes and of the database. */
export type Measured = { perSecond: number; processMs: number; databaseMs: number; coresBusy: number }

/** Measures work that resolves with how much was done. */
export async function measured(
  { postmasters }: Setup,
  processes: readonly Process[],
  work: () => Promise<number>,
): Promise<Measured> {
  const sumOf = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + cpuMsOfTree(pid), 0)
  const own = () => sumOf(processes.map(({ child }) => child.pid!))
  const before = { own: own(), database: sumOf(postmasters) }
  const busy = measureBusyCores()
  const startedMs = performance.now()
  const done = await work()
  return {
    perSecond: done / ((performance.now() - startedMs) / 1_000),
    processMs: (own() - before.own) / done,
    databaseMs: (sumOf(postmasters) - before.database) / done,
    coresBusy: busy(),
  }
}
