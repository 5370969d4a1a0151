import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Config, portMax } from '#runtime/config'
import type { Setting } from '#runtime/settings'

/** The listen address of a process, and the setting of its port. */
export type ListenAddress = { host: string; port: number; scheme: 'http' | 'https'; setting: Setting }

const schemeOf = ({ tls }: Config) => (tls ? 'https' : 'http')

export const apiAddress = (config: Config): ListenAddress => ({
  host: config.host,
  port: config.port,
  scheme: schemeOf(config),
  setting: 'BEZANT_PORT',
})

/** The page of users has the port after that of the API, unless one is set. */
export const pageAddress = (config: Config): ListenAddress => ({
  host: config.host,
  port: config.pagePort ?? (config.port === 0 || config.port === portMax ? 0 : config.port + 1),
  scheme: schemeOf(config),
  setting: 'BEZANT_PAGE_PORT',
})

/** Returns the address of a worker's probes, if a port is configured for them. */
export const workerAddress = (config: Config): ListenAddress | undefined =>
  config.workerPort === undefined
    ? undefined
    : {
        host: config.host,
        port: config.workerPort,
        scheme: schemeOf(config),
        setting: 'BEZANT_WORKER_PORT',
      }

/** Throws an error that names the remedy, unless the address is free to listen on now. */
export async function requirePort(address: ListenAddress): Promise<void> {
  const { host, port } = address
  const server = createServer().listen({ host, port })
  await once(server, 'listening').catch(explainListen(address))
  await new Promise((resolve) => server.close(resolve))
}

/** The page has a setting alone, because its port follows that of the API. */
const remedyOf = (setting: Setting) => (setting === 'BEZANT_PAGE_PORT' ? setting : `--port or ${setting}`)

export const explainListen =
  ({ host, port, setting }: ListenAddress) =>
  (error: NodeJS.ErrnoException): never => {
    const remedies: Record<string, string> = {
      EADDRINUSE: `port ${port} is in use: stop the process that uses it, or choose another port with ${remedyOf(setting)} (0 takes a free one)`,
      EACCES: `port ${port} needs privileges that this user lacks: choose one above 1023 with ${remedyOf(setting)}`,
      EADDRNOTAVAIL: `${host} is not an address of this machine: correct BEZANT_HOST`,
      ENOTFOUND: `${host} is not an address of this machine: correct BEZANT_HOST`,
    }
    const remedy = remedies[error.code ?? '']
    throw remedy ? new Error(`cannot listen: ${remedy}`, { cause: error }) : error
  }
