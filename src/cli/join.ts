import { resolve } from 'node:path'
import { requireNetwork } from '#chains/networks/index'
import type { Config } from '#runtime/config'
import { levelOf, readConfig } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import { explainDatabase } from '#runtime/db/explain'
import { requireKnownTables, requireTables } from '#runtime/db/migrate'
import { createLog } from '#runtime/log/log'
import { readPublishedNodes } from '#sandbox/nodes-file'
import { joinEmbeddedPostgres } from '#sandbox/postgres/join'
import { type Given, type Option, readFlag, textOf } from './command.ts'

export const joinOptions: Record<string, Option> = {
  'data-dir': {
    type: 'string',
    value: 'DIR',
    about:
      'Without DATABASE_URL: join the sandbox that runs on this directory. Also holds root.key and journals.',
    default: '.bezant',
  },
  'log-level': { type: 'string', value: 'LEVEL', about: 'debug, info, warn or error.', default: 'info' },
}

/** The configuration of a role or command, from its flags and the environment, checked completely before any work. */
export function configOf(given: Given, more: Partial<Config> = {}): Config {
  const dataDir = textOf(given, 'data-dir')
  const logLevel = readFlag(given, 'log-level', levelOf)
  const config = readConfig({
    ...more,
    ...(dataDir && { dataDir: resolve(dataDir) }),
    ...(logLevel && { logLevel }),
  })
  for (const { blockchain } of config.networks) requireNetwork(blockchain)
  // Warn at any level: the setting of the level itself may be misspelt.
  if (config.unknownSettings.length > 0)
    createLog('warn').warn(
      { unknown: config.unknownSettings },
      'the environment holds names that are no settings of this version: they have no effect',
    )
  return config
}

/** `DATABASE_URL` when set, else the database of the sandbox on the data directory: with the tables of this version. */
export const connectionOf = (config: Config) => connect(config, requireTables)

/** The same, before this version's tables exist: for `migrate`, and for roles, which migrate when they start. */
export const connectionToMigrate = (config: Config) => connect(config, requireKnownTables)

async function connect(
  config: Config,
  check: (connection: Connection) => Promise<void>,
): Promise<Connection> {
  const connection =
    config.databaseUrl === undefined
      ? await joinEmbeddedPostgres({ dataDir: config.dataDir })
      : { url: config.databaseUrl }
  await check(connection).catch(explainDatabase(connection))
  return connection
}

/** The configured nodes, and those of the sandbox whose database is joined. */
export async function nodesOf(config: Config) {
  const joined = config.databaseUrl === undefined ? await readPublishedNodes(config.dataDir) : []
  return [...joined, ...config.networks.map((network) => ({ ...network, local: false }))]
}
