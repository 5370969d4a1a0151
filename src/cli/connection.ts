import { resolve } from 'node:path'
import { requireNetwork, requireOwnNetworks } from '#chains/networks/index'
import type { Config } from '#runtime/config'
import { levelOf, readConfig } from '#runtime/config'
import { type Connection, type Database, openDatabase } from '#runtime/db/db'
import { explainDatabase } from '#runtime/db/explain'
import { requireKnownTables, requireTables } from '#runtime/db/migrate'
import { requireSessionSettings } from '#runtime/db/session-settings'
import { createLog } from '#runtime/log/log'
import { readPublishedNodes, runningUrl } from '#sandbox/nodes-file'
import { requireOwnDatabase } from '#sandbox/own-database'
import { joinEmbeddedPostgres } from '#sandbox/postgres/join'
import { type Option, type ParsedArgs, readFlag, textFlag } from './command.ts'

export const connectionOptions: Record<string, Option> = {
  'data-dir': {
    type: 'string',
    value: 'DIR',
    about:
      'Directory of root.key and the journals. Without DATABASE_URL, the command uses the sandbox that runs on it.',
    default: '.bezant',
  },
  'log-level': {
    type: 'string',
    value: 'LEVEL',
    about: 'Log level: debug, info, warn or error.',
    default: 'info',
  },
}

/** The configuration of a command, from its options and the environment, checked completely before any work. */
export function configOf(args: ParsedArgs, more: Partial<Config> = {}): Config {
  const dataDir = textFlag(args, 'data-dir')
  const logLevel = readFlag(args, 'log-level', levelOf)
  const config = readConfig({
    ...more,
    ...(dataDir && { dataDir: resolve(dataDir) }),
    ...(logLevel && { logLevel }),
  })
  requireOwnNetworks()
  for (const { blockchain } of config.networks) requireNetwork(blockchain)
  // Warn at any level: the setting of the level itself may be misspelt.
  if (config.unknownSettings.length > 0)
    createLog('warn').warn(
      { unknown: config.unknownSettings },
      'unknown settings in the environment are ignored: this version does not have them',
    )
  return config
}

/** The database of `DATABASE_URL`, or that of the sandbox on the data directory. Throws unless it has this version's tables. */
export const connectionOf = (config: Config) =>
  connect(config, async (connection) => {
    await requireTables(connection)
    await requireSessionSettings(connection)
  })

/** The same database before this version's tables exist: for `migrate`, `serve` and `worker`, which create them. */
export const connectionToMigrate = (config: Config) => connect(config, requireKnownTables)

async function connect(
  config: Config,
  check: (connection: Connection) => Promise<void>,
): Promise<Connection> {
  const connection =
    config.databaseUrl === undefined
      ? await joinEmbeddedPostgres({ dataDir: config.dataDir })
      : { url: config.databaseUrl, directUrl: config.directDatabaseUrl }
  await check(connection).catch(explainDatabase(connection))
  return connection
}

/** Runs `work` with the database alone, over two connections. */
export async function withDatabase<Result>(
  args: ParsedArgs,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(await connectionOf(configOf(args)), 2)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** The configured nodes, and those of the sandbox whose database the command uses. */
export async function nodesOf(config: Config, connection: Connection) {
  const joined = (await usesSandbox(config, connection)) ? await readPublishedNodes(config.dataDir) : []
  return [...joined, ...config.networks.map((network) => ({ ...network, local: false }))]
}

/** Whether the database is that of the sandbox on the data directory: its embedded one, or the one that it made in `DATABASE_URL`. */
async function usesSandbox({ databaseUrl, dataDir }: Config, connection: Connection): Promise<boolean> {
  if (databaseUrl === undefined) return true
  if ((await runningUrl(dataDir)) === undefined) return false
  return requireOwnDatabase(connection, dataDir).then(
    ({ isKnown }) => isKnown,
    () => false,
  )
}
