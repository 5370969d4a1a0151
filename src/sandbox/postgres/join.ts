import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPublished } from '#runtime/directory-lock/index'
import { EmbeddedPostgresError } from './errors.ts'

/** The address of the server: `host` is the directory of its unix socket (127.0.0.1 on Windows). */
export type ServerAddress = { host: string; port: number; user: string; database: string }

/** The record that a process with a server publishes in its directory lock; complete when the server is ready. */
export type PublishedServer = { serves: true; connection?: ServerAddress }

const joinMs = 30_000
const pollMs = 20

/**
 * Returns the connection to the server of the process that holds the data directory; waits while it starts. Throws
 * `NOT_RUNNING` when there is none.
 */
export async function joinEmbeddedPostgres({ dataDir }: { dataDir: string }): Promise<ServerAddress> {
  const deadline = performance.now() + joinMs
  while (performance.now() < deadline) {
    const published = (await readPublished(dataDir)) as PublishedServer | undefined
    if (!published?.serves) break
    if (published.connection) return published.connection
    await sleep(pollMs)
  }
  throw new EmbeddedPostgresError(
    'NOT_RUNNING',
    `DATABASE_URL is not set, and no sandbox with its own database is running on ${resolve(dataDir)}. Set DATABASE_URL to a PostgreSQL server of your own, start a sandbox there first, or name the directory of a running one with --data-dir. Commands reach an ephemeral sandbox only when it was started with --ephemeral --data-dir DIR.`,
  )
}
