import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { inspectChains } from '#chains/check-endpoints'
import type { Inspection, RefusedEndpoint } from '#chains/facets/endpoints'
import { requireNetwork } from '#chains/networks/index'
import { createChains } from '#chains/registry'
import { KeyServiceAway, KeyServiceRefused, openKeyService } from '#custody/key-services/index'
import { rootKeyAdvice, rootKeyStates, tryKeyService } from '#custody/root-key/index'
import { hostOffMaxMs, systemClock } from '#lib/time'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import type { Config } from '#runtime/config'
import { type Connection, openAsOwner, openDatabase } from '#runtime/db/db'
import { forgottenTables } from '#runtime/db/distribute'
import { explainDatabase } from '#runtime/db/explain'
import { requireKnownTables } from '#runtime/db/migrate'
import { replicaLagBytes } from '#runtime/db/replicas/session'
import { requireSessionSettings } from '#runtime/db/session-settings'
import { apiAddress, pageAddress, requirePort } from '#runtime/http/port'
import { findRootKey, readRootKeys, rootKeyMissing, rootKeyPlace } from '#runtime/root-key'
import { anvilBinary } from '#sandbox/chains/binary'
import { requireOwnDatabase } from '#sandbox/own-database'
import { checkPorts } from '#sandbox/own-ports'
import { findBinaries } from '#sandbox/postgres/binaries'
import { hasCluster } from '#sandbox/postgres/index'
import { counted } from '../table.ts'
import { readServer, type ServerSettings } from './store.ts'

/** One thing that a start needs. `look` returns what it found, and throws with what to do about a fault. */
export type DoctorCheck = { name: string; look(config: Config): Promise<string> }

const runFile = promisify(execFile)

/** Shown for a report: the program refuses an older version before it loads any command. */
const node: DoctorCheck = { name: 'Node.js', look: async () => process.versions.node }

const settings: DoctorCheck = {
  name: 'settings',
  look: async ({ unknownSettings }) => {
    if (unknownSettings.length === 0) return 'every BEZANT_ setting is known'
    throw new Error(
      `this version has no ${unknownSettings.join(', ')}: correct the name, or unset it (bezant serve --help lists all)`,
    )
  },
}

const directory: DoctorCheck = {
  name: 'data directory',
  look: async ({ dataDir }) => {
    const nearest = await nearestExisting(dataDir)
    await access(nearest, constants.W_OK | constants.X_OK).catch(() => {
      throw new Error(
        `this user may not write to ${nearest}: change its owner, or give another directory with --data-dir`,
      )
    })
    return nearest === dataDir ? dataDir : `${dataDir} will be made`
  },
}

async function nearestExisting(path: string): Promise<string> {
  const exists = await access(path).then(
    () => true,
    () => false,
  )
  return exists || path === dirname(path) ? path : nearestExisting(dirname(path))
}

const ports: DoctorCheck = {
  name: 'ports',
  look: async (config) => {
    await requirePort(apiAddress(config))
    await requirePort(pageAddress(config))
    return freePorts(config)
  },
}

const freePorts = (config: Config) => {
  const ports = [apiAddress(config), pageAddress(config)].map(({ port }) => (port === 0 ? 'any' : port))
  return `${ports.join(' and ')} of ${config.host} are free`
}

/** A sandbox that runs on the same directory holds its ports by right. */
const sandboxPorts: DoctorCheck = {
  name: 'ports',
  look: async (config) => {
    const url = await checkPorts(config)
    return url === undefined ? freePorts(config) : `the sandbox of this directory runs at ${url}`
  },
}

const postgresProgram: DoctorCheck = {
  name: 'embedded PostgreSQL',
  look: async () => versionOf((await findBinaries(undefined)).postgres),
}

const nodeProgram: DoctorCheck = {
  name: 'local node',
  look: async () => versionOf(anvilBinary()),
}

/** The first line that a program prints of its version: one that lacks a library of the system does not start. */
async function versionOf(program: string): Promise<string> {
  const { stdout } = await runFile(program, ['--version'], { timeout: 30_000 }).catch((error: Error) => {
    throw new Error(`${program} does not start (${error.message.trim()}): install what it lacks`)
  })
  return stdout.split('\n')[0]!.trim()
}

const sandboxRootKey: DoctorCheck = {
  name: 'root key',
  look: async (config) => {
    if (await findRootKey(config)) return 'found'
    if (hasCluster(config.dataDir)) throw rootKeyMissing(config, 'the database beside it')
    return 'will be made'
  },
}

const sandboxDatabase: DoctorCheck = {
  name: 'database',
  look: async ({ databaseUrl, directDatabaseUrl, dataDir }) => {
    if (databaseUrl === undefined) return 'the embedded one'
    const { isKnown } = await requireOwnDatabase({ url: directDatabaseUrl ?? databaseUrl }, dataDir)
    return isKnown ? 'that of this data directory' : 'empty'
  },
}

const rootKey: DoctorCheck = {
  name: 'root key',
  look: async (config) => {
    const keys = await readRootKeys(config)
    const states = await rootKeyStatesOf(config, keys).catch((error: Error) => {
      if (error instanceof KeyServiceAway || error instanceof KeyServiceRefused) throw error
      // The check of the database says why.
      return undefined
    })
    return states ? rootKeyAdvice(states, keys.length, config.keyService !== undefined) : 'found'
  },
}

async function rootKeyStatesOf(config: Config, keys: readonly Buffer[]) {
  const open = openDatabase(requireDatabase(config), 1)
  const service = config.keyService && openKeyService(config.keyService)
  return rootKeyStates(open, keys, service).finally(() => open.close())
}

/** Says what the place of the root key means, and whether the service that wraps it answers. */
const keyService: DoctorCheck = {
  name: 'key service',
  look: async (config) => {
    const place = await rootKeyPlace(config)
    if (!config.keyService && !place) return 'none'
    if (!config.keyService)
      return `none: ${place} holds the root key itself, and a copy of it is a copy of the key`
    const service = openKeyService(config.keyService)
    await tryKeyService(service)
    const besides = place === undefined ? '' : `; ${place} holds a root key as well, for as long as it moves`
    return `${service.name} wraps and unwraps${besides}`
  },
}

const database: DoctorCheck = {
  name: 'database',
  look: async (config) => {
    const connection = requireDatabase(config)
    const owner = openAsOwner(connection)
    const read = async () => ({ server: await readServer(owner), forgotten: await forgottenTables(owner) })
    const { server, forgotten } = await read()
      .catch(explainDatabase(connection))
      .finally(() => owner.close())
    const ofSessions = await requireSessionSettings(connection).then(
      () => [],
      (error: Error) => [error.message],
    )
    const faults = [...faultsOf(server, config), ...ofSessions, ...undistributed(forgotten)]
    if (faults.length > 0) throw new Error(faults.join('; '))
    await requireKnownTables(connection)
    return `PostgreSQL ${server.version}`
  },
}

const undistributed = (tables: readonly string[]) =>
  tables.length === 0
    ? []
    : [
        `the server is distributed, and ${tables.slice(0, 5).join(', ')} ${tables.length === 1 ? 'is' : 'are'} on its coordinator alone: run "bezant migrate --distributed" as the owner of the tables`,
      ]

/** The oldest version that the tests run on. */
const oldestVersion = 150_000

function faultsOf(server: ServerSettings, { databaseConnectionsMax }: Config): string[] {
  const { versionNumber, version, encoding, fsync, fullPageWrites, synchronousCommit, connectionsMax } =
    server
  return [
    versionNumber < oldestVersion && `PostgreSQL ${version} is too old: install version 15 or a newer one`,
    encoding !== 'UTF8' && `the database is encoded in ${encoding}: make it anew with encoding UTF8`,
    !fsync && 'fsync is off, and a power failure loses money: set fsync = on',
    !fullPageWrites && 'full_page_writes is off, and a power failure damages tables: set it on',
    synchronousCommit === 'off' &&
      'synchronous_commit is off, and a crash loses what was answered for: set it on',
    connectionsMax < databaseConnectionsMax * 2 + 10 &&
      `max_connections is ${connectionsMax}: set ${databaseConnectionsMax * 2 + 10} or more for each process, or lower BEZANT_DATABASE_CONNECTIONS`,
  ].filter((fault) => fault !== false)
}

const replicas: DoctorCheck = {
  name: 'read replicas',
  look: async (config) => {
    const { readDatabaseUrls: urls } = config
    if (urls.length === 0) return 'none: the primary serves all reads'
    const primary = openDatabase(requireDatabase(config), 1)
    const looks = await Promise.allSettled(urls.map((url) => replicaLagBytes(url, primary.reading)))
    await primary.close()
    const told = looks.map((look, index) => {
      const { host } = new URL(urls[index]!)
      if (look.status === 'rejected') return { fault: `${host}: ${(look.reason as Error).message}` }
      return { found: `${host} is ${counted(look.value, 'byte')} behind` }
    })
    const faults = told.flatMap(({ fault }) => fault ?? [])
    if (faults.length > 0) throw new Error(faults.join('; '))
    return told.map(({ found }) => found).join(', ')
  },
}

const clock: DoctorCheck = {
  name: 'clock',
  look: async (config) => {
    const open = openDatabase(requireDatabase(config), 1)
    const { hostOffMs } = await readDatabaseClock(open).finally(() => open.close())
    const offMs = hostOffMs?.() ?? 0
    if (Math.abs(offMs) <= hostOffMaxMs) return `${Math.abs(offMs)} ms off that of the database`
    throw new Error(
      `${new Date(systemClock.nowMs()).toISOString()} is ${Math.abs(offMs)} ms off the clock of the database: let both follow a time server (NTP)`,
    )
  },
}

const endpoints: DoctorCheck = {
  name: 'endpoints of chains',
  look: async ({ networks, callGasMax }) => {
    if (networks.length === 0) throw new Error('no chain is configured: set BEZANT_NETWORKS')
    const refused: RefusedEndpoint[] = []
    const inspection: Inspection = { refused: (each) => refused.push(each), accepted: () => undefined }
    const gasMax = BigInt(callGasMax)
    const nodes = networks.map((each) => ({
      ...each,
      callGasMax: gasMax,
      network: requireNetwork(each.blockchain),
      local: false,
    }))
    const chains = createChains(nodes, inspection)
    try {
      await inspectChains(chains)
      const silent = await Promise.all(
        chains.list().map(async ({ network, blocks }) => {
          const isSilent = await blocks.head().then(
            () => false,
            () => true,
          )
          return isSilent ? [network.blockchain] : []
        }),
      )
      const faults = [
        ...refused.map(({ blockchain, endpoint, reason }) => `${blockchain} at ${endpoint}: ${reason}`),
        ...silent.flat().map((name) => `${name}: no endpoint answers; correct BEZANT_NETWORKS`),
      ]
      if (faults.length > 0) throw new Error(faults.join('; '))
    } finally {
      await Promise.all(chains.list().map((chain) => chain.endpoints.close()))
    }
    return `${counted(networks.length, 'chain')} answered`
  },
}

/** The connection to the database of a server, which `DATABASE_URL` has to name. */
export function requireDatabase({ databaseUrl, directDatabaseUrl }: Config): Connection {
  if (databaseUrl !== undefined) return { url: databaseUrl, directUrl: directDatabaseUrl }
  throw new Error('there is none: set DATABASE_URL')
}

/** The checks of each way to start. */
export const doctorChecks = {
  sandbox: [
    node,
    settings,
    directory,
    sandboxRootKey,
    sandboxPorts,
    postgresProgram,
    nodeProgram,
    sandboxDatabase,
  ],
  serve: [node, settings, directory, rootKey, keyService, ports, database, replicas, clock, endpoints],
} satisfies Record<string, readonly DoctorCheck[]>
