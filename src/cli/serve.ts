import {
  openContext,
  startApi,
  startAttester,
  startAttesterEngines,
  startEngines,
  startPage,
  startProbes,
} from '#context'
import type { EngineCtx } from '#engines/ctx'
import { findEntity } from '#runtime/auth/store'
import type { Config } from '#runtime/config'
import { apiAddress, type ListenAddress, pageAddress, requirePort, workerAddress } from '#runtime/http/port'
import { answerWhileWaiting } from '#runtime/http/waiting'
import { raiseAlarm } from '#runtime/log/alarms'
import { createLog, type Log } from '#runtime/log/log'
import { readRootKeys } from '#runtime/root-key'
import { sandboxEntity } from '#sandbox/credentials'
import { startSandboxEngines } from '#sandbox/engines'
import { openFaucet, type SandboxFaucet } from '#sandbox/faucet/faucet'
import { type Command, numberFlag, type ParsedArgs, UsageError } from './command.ts'
import { configOf, connectionOptions, connectionToMigrate, nodesOf } from './connection.ts'
import { waitForStopSignal } from './stop-signal.ts'

export const serveCommand: Command = {
  usage: 'bezant serve [options]',
  options: {
    port: {
      type: 'string',
      value: 'PORT',
      about: 'Port of the API, before that of the page of users; 0 for free ones.',
      default: '4020',
    },
    ...connectionOptions,
  },
  listsSettings: 'all',
  run: (args) => runRole(args, 'api'),
}

export const workerCommand: Command = {
  usage: 'bezant worker [options]',
  options: {
    port: {
      type: 'string',
      value: 'PORT',
      about: 'Port of /ping, /ready and /metrics; 0 for a free one. Default: none.',
    },
    ...connectionOptions,
  },
  listsSettings: 'for workers',
  run: (args) => runRole(args, 'worker'),
}

export const attestCommand: Command = {
  usage: `bezant attest [options]

Signs the cross-chain messages that another server proposes, as one attester of several: it follows the chains by itself, and signs
only what its own records and rules allow. It needs a database (DATABASE_URL), a root key, nodes and a key of its own
(bezant attestation-keys create --purpose message), and an API key for the other server (bezant keys create-entity).`,
  options: {
    port: {
      type: 'string',
      value: 'PORT',
      about: 'Port of POST /signatures, /ping, /ready and /metrics; 0 for a free one.',
      default: '4020',
    },
    ...connectionOptions,
  },
  listsSettings: 'for workers',
  run: (args) => runRole(args, 'attester'),
}

type ServedRole = 'api' | 'worker' | 'attester'

async function runRole(args: ParsedArgs, role: ServedRole): Promise<number> {
  const port = numberFlag(args, 'port', 65_535)
  const own = role === 'worker' ? 'workerPort' : 'port'
  const config = configOf(args, port === undefined ? {} : { [own]: port })
  const log = createLog(config.logLevel)
  const stopSignal = waitForStopSignal(config)
  // On the database of the platform it would find what the platform recorded, and prove nothing.
  if (role === 'attester' && config.databaseUrl === undefined)
    throw new UsageError('an attester needs a database of its own: set DATABASE_URL')
  const address = role === 'worker' ? workerAddress(config) : apiAddress(config)
  if (address) await requirePort(address)
  if (role === 'api') await requirePort(pageAddress(config))
  const connection = await connectionToMigrate(config)
  const nodes = await nodesOf(config, connection)
  if (nodes.length === 0) log.warn({}, 'no chain is configured: set BEZANT_NETWORKS')
  let waits: () => void = () => undefined
  const waiting = new Promise<void>((resolve) => (waits = resolve))
  const opening = openContext({
    config,
    log,
    connection,
    nodes,
    inspects: true,
    rootKey: await readRootKeys(config),
    whileWaiting: async () => {
      waits()
      return answerProbes(config, log, address)
    },
  })
  // A process that waits for its key service has begun nothing that needs an orderly end.
  const context = await Promise.race([opening, waiting.then(() => stopSignal)])
  if (typeof context === 'string') return 0
  if (config.databaseUrl !== undefined) await refuseSandboxCredentials(context.ctx)
  // A worker that joins a sandbox works on its local chains, where gas costs nothing.
  const faucet = role === 'worker' && nodes.some(({ local }) => local) ? openFaucet(context.ctx) : undefined
  const listener = await startListener(context.ctx, role, address)
  const page = role === 'api' ? await startPage(context.ctx) : undefined
  const engines = startRoleEngines(context.ctx, role, faucet)
  const url = listener && { url: listener.url, ...(page && { challengeUrl: config.challengeUrl }) }
  log.info({ role, ...url, chains: nodes.map((node) => node.blockchain) }, 'ready')
  await stopSignal
  await Promise.all([listener?.stop(), page?.stop(), engines?.stop()])
  await faucet?.stop()
  await context.close()
  return 0
}

async function answerProbes(config: Config, log: Log, address: ListenAddress | undefined) {
  if (!address) return async () => undefined
  const message = 'The service that keeps the root key of this server does not answer: try again later.'
  const { port, stop } = await answerWhileWaiting(config, address, message)
  log.warn({ port }, 'only /ping and /ready are answered meanwhile')
  return stop
}

function startListener(ctx: EngineCtx, role: ServedRole, address: ListenAddress | undefined) {
  if (role === 'api') return startApi(ctx)
  if (role === 'attester') return startAttester(ctx)
  return address && startProbes(ctx, address)
}

function startRoleEngines(ctx: EngineCtx, role: ServedRole, faucet: SandboxFaucet | undefined) {
  if (role === 'api') return undefined
  if (role === 'attester') return startAttesterEngines(ctx)
  return faucet ? startSandboxEngines(ctx, faucet) : startEngines(ctx)
}

/**
 * Warns of the settings of a sandbox, and refuses the API keys of a sandbox's entity, which are public.
 */
async function refuseSandboxCredentials({ config, db, log }: EngineCtx): Promise<void> {
  if (config.notificationTargets !== 'public')
    log.warn(
      { notificationTargets: config.notificationTargets },
      'notifications may be sent to addresses that are not public: use this setting in sandboxes only',
    )
  config.refusedEntityId = sandboxEntity.id
  if (await findEntity(db, sandboxEntity.id))
    raiseAlarm(
      log,
      'sandbox-credentials',
      { entityId: sandboxEntity.id },
      'the database contains the entity of a sandbox, whose credentials are public: its API keys are refused',
    )
}
