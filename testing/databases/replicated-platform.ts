import { openAsOwner, raw, sql } from '#runtime/db/db'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import type { WorkerOptions } from '#testing/processes/worker-process'
import { openCluster, openStandby, type Standby } from './system-postgres.ts'
import { serveDatabases } from './test-databases.ts'

/** A platform on a primary of its own, whose first API reads from the primary; further ones read from replicas. */
export type ReplicatedPlatform = {
  harness: Harness
  openReplica(): Promise<TestReplica>
  /** Starts an API in a process of its own. */
  startApi(readDatabaseUrls: string[], logLevel?: string): Promise<{ url: string; worker: Worker }>
  /** Number of statements about a table that only read, on the primary. */
  readsOf(table: string): Promise<number>
  close(): Promise<void>
}

/** A replica of the platform's database. */
export type TestReplica = Standby & {
  url: string
  readsOf(table: string): Promise<number>
  /** Applies what is replicated no more, or again. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Applies commits so much later. */
  delay(delayMs: number): Promise<void>
}

/** Keeps counts of each statement. */
const settings = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.max=10000']

export async function openReplicatedPlatform(folder: string): Promise<ReplicatedPlatform> {
  const cluster = await openCluster(folder, settings)
  const databases = serveDatabases(`postgresql://postgres@127.0.0.1:${cluster.port}/postgres`)
  const closers: (() => Promise<unknown>)[] = [cluster.close, databases.stop]
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end()
  }
  try {
    let name = ''
    const makeDatabase = async () => {
      const made = await databases.copy('seeded')
      name = made.name
      return { connection: made.connection, drop: async () => undefined }
    }
    const harness = await openHarness({ makeDatabase })
    closers.push(harness.close)
    const owner = openAsOwner(harness.connection)
    closers.push(owner.close)
    await owner.script('create extension pg_stat_statements')
    const urlOf = ({ port }: { port: number }) => `postgresql://postgres@127.0.0.1:${port}/${name}`
    return {
      harness,
      openReplica: async () => {
        const standby = await openStandby(folder, cluster, settings)
        closers.push(standby.close)
        return replicaOf(standby, urlOf(standby))
      },
      startApi: async (readDatabaseUrls, logLevel = 'fatal') => {
        const { connection } = harness
        const { rpcUrl, blockchain } = harness.chain()
        const worker = await spawnWorker()
        closers.push(async () => worker.signal('SIGKILL'))
        const options: WorkerOptions = { connection, rpcUrl, blockchain, roles: ['api'], logLevel }
        await worker.open({ ...options, settings: { readDatabaseUrls } })
        return { worker, url: (await worker.start())! }
      },
      readsOf: (table) => readsAt(urlOf(cluster), table),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function replicaOf(standby: Standby, url: string): TestReplica {
  const tell = async (statement: string) => {
    const owner = openAsOwner({ url })
    await owner.run(raw(statement)).finally(owner.close)
  }
  const isPaused = async () => {
    const owner = openAsOwner({ url })
    const state = await owner
      .one<{ state: string }>(sql`select pg_get_wal_replay_pause_state() as state`)
      .finally(owner.close)
    return state.state === 'paused'
  }
  return {
    ...standby,
    url,
    readsOf: (table) => readsAt(url, table),
    pause: async () => {
      await tell('select pg_wal_replay_pause()')
      await until(isPaused, 'the replica is paused')
    },
    resume: () => tell('select pg_wal_replay_resume()'),
    delay: async (delayMs) => {
      await tell(`alter system set recovery_min_apply_delay = ${delayMs}`)
      await tell('select pg_reload_conf()')
    },
  }
}

async function readsAt(url: string, table: string): Promise<number> {
  const owner = openAsOwner({ url })
  const { calls } = await owner
    .one<{ calls: number }>(sql`select coalesce(sum(calls), 0)::int8 as calls from pg_stat_statements
      where query ~* ${`^\\s*(select|with)\\y.*\\y${table}\\y`} and query !~* ${'\\y(insert|update|delete)\\y'}`)
    .finally(owner.close)
  return calls
}
