/** A primary and a streaming standby without a tool that supervises them: the operator promotes the standby. */
import pg from 'pg'
import { openCluster, openStandby } from '#testing/databases/system-postgres'
import { until } from '#testing/platform/until'
import { killTree } from '#testing/processes/program'
import type { DatabasePair, ReplicationMode } from './database-pair.ts'

/** Starts both servers with the programs in `folder`, such as `/usr/lib/postgresql/15/bin`. */
export async function openStreamingPair(folder: string, mode: ReplicationMode): Promise<DatabasePair> {
  const settings = ['max_connections=200']
  const whole = mode === 'synchronous' ? ['synchronous_standby_names=*'] : []
  const primary = await openCluster(folder, [...settings, ...whole])
  // No commit ends before there is a standby, and the copy needs none.
  const standby = await openStandby(folder, primary, settings)
  let isPromoted = false
  const primaryUrl = () => urlOf(isPromoted ? standby.port : primary.port)
  await until(async () => (await walSenders(primaryUrl())).length > 0, 'the standby follows')
  return {
    hosts: [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(),
    primaryUrl,
    stopReplication: async () => {
      for (const pid of await walSenders(primaryUrl())) process.kill(pid, 'SIGSTOP')
    },
    killPrimary: () => killTree(primary.pid),
    promoted: async () => {
      standby.promote()
      isPromoted = true
    },
    close: async () => {
      // Its senders may be stopped, and would never end.
      await killTree(primary.pid)
      await standby.close()
      await primary.close()
    },
  }
}

const urlOf = (port: number) => `postgresql://postgres@127.0.0.1:${port}/postgres`

/** The processes of a primary that send its log to standbys. */
export async function walSenders(url: string): Promise<number[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query(
      `select pid from pg_stat_replication where state = 'streaming' and application_name <> 'pg_basebackup'`,
    )
    return rows.map(({ pid }) => pid)
  } finally {
    await client.end()
  }
}
