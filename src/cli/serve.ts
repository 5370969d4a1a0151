import { openContext, startApi, startEngines, startProbes } from '#context'
import type { EngineCtx } from '#engines/ctx'
import { findEntity } from '#runtime/auth/store'
import { apiAddress, requirePort, workerAddress } from '#runtime/http/port'
import { raiseAlarm } from '#runtime/log/alarms'
import { createLog } from '#runtime/log/log'
import { readRootKey } from '#runtime/root-key'
import { sandboxEntity } from '#sandbox/credentials'
import { openSandboxFaucet } from '#sandbox/faucet'
import { type Command, type Given, numberOf } from './command.ts'
import { configOf, connectionToMigrate, joinOptions, nodesOf } from './join.ts'
import { untilToldToStop } from './signals.ts'

export const serveCommand: Command = {
  name: 'serve',
  usage: 'bezant serve [options]',
  options: {
    port: { type: 'string', value: 'PORT', about: 'Port of the API; 0 takes a free one.', default: '4020' },
    ...joinOptions,
  },
  listsSettings: 'all',
  run: (given) => runRole(given, 'api'),
}

export const workerCommand: Command = {
  name: 'worker',
  usage: 'bezant worker [options]',
  options: {
    port: {
      type: 'string',
      value: 'PORT',
      about: 'Port of /ping, /ready and /metrics; 0 takes a free one. Without it, there is none.',
    },
    ...joinOptions,
  },
  listsSettings: 'for workers',
  run: (given) => runRole(given, 'worker'),
}

async function runRole(given: Given, role: 'api' | 'worker'): Promise<number> {
  const port = numberOf(given, 'port', 65_535)
  const own = role === 'api' ? 'port' : 'workerPort'
  const config = configOf(given, port === undefined ? {} : { [own]: port })
  const log = createLog(config.logLevel)
  const stopSignal = untilToldToStop(config)
  const address = role === 'api' ? apiAddress(config) : workerAddress(config)
  if (address) await requirePort(address)
  const connection = await connectionToMigrate(config)
  const nodes = await nodesOf(config)
  if (nodes.length === 0) log.warn({}, 'no network is configured: set BEZANT_NETWORKS to reach chains')
  const context = await openContext({
    config,
    log,
    connection,
    nodes,
    inspects: true,
    rootKey: await readRootKey(config),
  })
  if (config.databaseUrl !== undefined) await guardProduction(context.ctx)
  // A worker that joins a sandbox works on its local chains, where gas costs nothing.
  const faucet =
    role === 'worker' && nodes.some(({ local }) => local) ? await openSandboxFaucet(context.ctx) : undefined
  const listener =
    role === 'api' ? await startApi(context.ctx) : address && (await startProbes(context.ctx, address))
  const engines = role === 'worker' ? startEngines(context.ctx, faucet) : undefined
  const url = listener && { url: listener.url }
  log.info({ role, ...url, chains: nodes.map((node) => node.blockchain) }, 'ready')
  await stopSignal
  await Promise.all([listener?.stop(), engines?.stop()])
  await faucet?.stop()
  await context.close()
  return 0
}

/**
 * Warns of sandbox settings and credentials outside of a sandbox. The keys and the secret of a sandbox's entity are public,
 * so they are refused here.
 */
async function guardProduction({ config, db, log }: EngineCtx): Promise<void> {
  if (config.notificationTargets !== 'public')
    log.warn(
      { notificationTargets: config.notificationTargets },
      'notifications may go to addresses that are not public: for sandboxes only',
    )
  config.refusedEntityId = sandboxEntity.id
  if (await findEntity(db, sandboxEntity.id))
    raiseAlarm(
      log,
      'sandbox-credentials',
      { entityId: sandboxEntity.id },
      'a sandbox ran on this database: the entity with the public credentials is in it, and is refused here',
    )
}
