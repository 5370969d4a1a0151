/**
 * The instances of a test run: sandboxes in this one process, each with its own database, nodes, ports and clock. What takes most of a
 * start, loading the modules, starting PostgreSQL and filling a database, is done once for all of them.
 */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { suggest } from '#lib/suggest'
import { type Config, readConfig } from '#runtime/config'
import type { Log } from '#runtime/log/log'
import { createLanes } from '#runtime/scheduling/fair-concurrency'
import { settings as knownSettings } from '#runtime/settings'
import type { SandboxAnswer } from '#sandbox/endpoints'
import { readPlan } from '#sandbox/faults/index'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#sandbox/postgres/index'
import { copyDatabase, dropDatabase, prepareDatabase } from '#sandbox/prepared-databases'
import { sandboxSettings } from '#sandbox/sandbox-settings'
import { startSandbox } from '#sandbox/start'
import { requireTestNetwork } from '#sandbox/test-networks'
import type { InstanceRequest } from '../protocol.ts'

type Running = { name: string; answer: SandboxAnswer; stop(): Promise<void> }

export type Instances = {
  /** Starts an instance; `interruption` ends the start. */
  start(request: InstanceRequest, interruption: AbortSignal): Promise<Running>
  /** The number of those that start, run or stop. */
  count(): number
  /** Resolves with the reason when the database of all of them has ended. */
  broken: Promise<string>
  stop(): Promise<void>
}

/** An idle instance has nine connections, a busy one these two pools and some more. */
const connectionsOfOne = 8
const connectionsMax = 1_000
const instancesMax = 40

/** More starts at once take longer for each, and no less in all: they compete for this process. */
const startsAtOnce = 2
/** The longest time that a timer takes: a start waits for its turn as long as its caller does. */
const waitMs = 2 ** 31 - 1
const templateName = 'bezant_template'

/** Starts the database server, and prepares the database that those of the instances are copies of. */
export async function openInstances(directory: string, log: Log): Promise<Instances> {
  const place = await openPlace(directory, log)
  const running = new Set<Running>()
  const limits = { count: startsAtOnce, leavesRoom: false, waitingMax: instancesMax, waitMs }
  const lanes = createLanes({ ...limits, crowded: tooMany })
  let starting = 0
  const startOne = async (
    settings: InstanceRequest['settings'],
    chosen: Chosen,
    interruption: AbortSignal,
  ) => {
    interruption.throwIfAborted()
    const started = await startOn(place, settings, chosen, interruption)
    let stopping: Promise<void> | undefined
    const stop = () => (stopping ??= started.stop().finally(() => running.delete(instance)))
    const instance = { ...started, stop }
    running.add(instance)
    return instance
  }
  return {
    start: async (request, interruption) => {
      requireSettings(request.settings)
      const chosen = chosenOf(request)
      if (running.size + starting >= instancesMax) throw tooMany()
      starting++
      const start = () => startOne(request.settings, chosen, interruption)
      return lanes.run('', start).finally(() => starting--)
    },
    count: () => running.size + starting,
    broken: place.postgres.exited.then(({ expected }) =>
      expected ? new Promise<string>(() => undefined) : 'its PostgreSQL ended',
    ),
    stop: async () => {
      await Promise.allSettled([...running].map((instance) => instance.stop()))
      await place.postgres.stop()
    },
  }
}

const tooMany = () =>
  new Error(
    `${instancesMax} sandboxes run already, which is the most of one test run: call stop() in afterAll of each test file, or let fewer files run at once`,
  )

/** The parts that all instances share. */
type InstancePlace = {
  postgres: EmbeddedPostgres
  log: Log
  configOf(name: string, settings?: Record<string, string>): Config
  /** A name that no other instance has. */
  nextName(): string
}

async function openPlace(directory: string, log: Log): Promise<InstancePlace> {
  const rootKey = randomBytes(32)
  const configOf = (name: string, settings: Record<string, string> = {}) => {
    const dataDir = join(directory, name)
    const fixed = {
      dataDir,
      rootKeys: [rootKey],
      port: 0,
      logLevel: 'error',
      databaseConnectionsMax: connectionsOfOne,
    }
    const config = readConfig({ ...sandboxSettings, ...fixed }, settings)
    if (config.passkeyOrigins.length === 0) config.passkeyOrigins = ['loopback']
    return config
  }
  const dataDir = join(directory, 'server')
  const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: true, connectionsMax, log })
  try {
    const { connection } = postgres
    await prepareDatabase({ config: configOf(templateName), log, rootKey, connection, name: templateName })
  } catch (error) {
    await postgres.stop()
    throw error
  }
  let made = 0
  return { postgres, log, configOf, nextName: () => `instance_${++made}` }
}

/** Starts an instance on a copy of the prepared database, which is dropped with it. */
async function startOn(
  { postgres: { connection }, log, configOf, nextName }: InstancePlace,
  settings: InstanceRequest['settings'],
  chosen: Chosen,
  interruption: AbortSignal,
): Promise<Running> {
  const name = nextName()
  const config = configOf(name, settings)
  const drop = async () => {
    await dropDatabase(connection, name)
    await rm(config.dataDir, { recursive: true, force: true, maxRetries: 3 })
  }
  try {
    const database = await copyDatabase(connection, templateName, name)
    const own = { config, log: log.child({ instance: name }), database, interruption }
    const sandbox = await startSandbox({ ...chosen, ...own, ephemeral: true, isExposed: false })
    return { name, answer: sandbox.answer, stop: () => sandbox.stop().finally(drop) }
  } catch (error) {
    await drop().catch(() => undefined)
    throw error
  }
}

type Chosen = ReturnType<typeof chosenOf>

/** The options of an instance as those of a sandbox; throws for each mistake. */
function chosenOf({ blockchains, blockTimeMs, faults, seed }: InstanceRequest) {
  const named = blockchains.map((name) => requireTestNetwork(name, 'blockchains').blockchain)
  const chosen = [...new Set(named)]
  return {
    blockchains: chosen,
    blockTimeMs,
    ...(faults !== undefined && { faults: seeded(faults, seed, chosen) }),
  }
}

/** The text of a plan with another seed, where one is given. */
function seeded(text: string, seed: number | undefined, blockchains: readonly string[]): string {
  try {
    const plan = readPlan(text, blockchains)
    return JSON.stringify(seed === undefined ? plan : { ...plan, seed })
  } catch (error) {
    throw new Error(`faults: ${(error as Error).message}`)
  }
}

/** The server and the ports are the concern of the kit. */
const ownSettings =
  /^BEZANT_(ROOT_KEY|DATA_DIR|JOURNAL_DIR|HOST|PORT|PAGE_PORT|WORKER_PORT|NETWORKS|DATABASE_CONNECTIONS)$/

function requireSettings(given: Record<string, string> = {}): void {
  const allowed = Object.keys(knownSettings).filter(
    (name) => name.startsWith('BEZANT_') && !ownSettings.test(name),
  )
  for (const name of Object.keys(given)) {
    if (allowed.includes(name)) continue
    const remedy = suggest(name, allowed) || ': docs/settings.md lists them'
    throw new Error(`settings cannot have ${name}${remedy}`)
  }
}
