import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '#runtime/config'

/** Throws, in words that say what to do, unless the configured host and port can be listened on now. */
export async function requirePort(config: Config): Promise<void> {
  const { host, port } = config
  const server = createServer().listen({ host, port })
  await once(server, 'listening').catch(explainListen(config))
  await new Promise((resolve) => server.close(resolve))
}

export const explainListen =
  ({ host, port }: Config) =>
  (error: NodeJS.ErrnoException): never => {
    const remedies: Record<string, string> = {
      EADDRINUSE: `port ${port} is taken: stop what uses it, or choose another one with --port or BEZANT_PORT (0 takes a free one)`,
      EACCES: `port ${port} needs more rights than this user has: choose one above 1023 with --port or BEZANT_PORT`,
      EADDRNOTAVAIL: `${host} is no address of this machine: correct BEZANT_HOST`,
      ENOTFOUND: `${host} is no address of this machine: correct BEZANT_HOST`,
    }
    const remedy = remedies[error.code ?? '']
    throw remedy ? new Error(`cannot listen: ${remedy}`, { cause: error }) : error
  }
