import { openContext, startApi, startEngines } from '#context'
import { createLog } from '#runtime/log/log'
import { readRootKey } from '#runtime/root-key'
import { openSandboxFaucet } from '#sandbox/faucet'
import { type Command, type Given, numberOf } from './command.ts'
import { configOf, connectionOf, joinOptions, nodesOf } from './join.ts'
import { untilToldToStop } from './signals.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Runs the API on PostgreSQL and your own nodes; any number of these may run at once.',
  usage: 'bezant serve [options]',
  options: {
    port: { type: 'string', value: 'PORT', about: 'Port of the API; 0 takes a free one.', default: '4020' },
    ...joinOptions,
  },
  listsSettings: true,
  run: (given) => runRole(given, 'api'),
}

export const workerCommand: Command = {
  name: 'worker',
  summary: 'Runs the engines: follows the chains, signs and sends transactions, settles payments.',
  usage: 'bezant worker [options]',
  options: joinOptions,
  listsSettings: true,
  run: (given) => runRole(given, 'worker'),
}

async function runRole(given: Given, role: 'api' | 'worker'): Promise<number> {
  const port = numberOf(given, 'port', 65_535)
  const config = configOf(given, port === undefined ? {} : { port })
  const log = createLog(config.logLevel)
  const stopSignal = untilToldToStop(config)
  const connection = await connectionOf(config)
  const nodes = await nodesOf(config)
  if (nodes.length === 0) log.warn({}, 'no network is configured: set BEZANT_NETWORKS to reach chains')
  const context = await openContext({
    config,
    log,
    connection,
    nodes,
    rootKey: await readRootKey(config, false),
  })
  // Whoever joins a sandbox works on its local chains, where gas costs nothing.
  const faucet =
    role === 'worker' && nodes.some(({ local }) => local) ? await openSandboxFaucet(context.ctx) : undefined
  const running = role === 'api' ? await startApi(context.ctx) : startEngines(context.ctx, faucet)
  log.info(
    { role, ...('url' in running && { url: running.url }), chains: nodes.map((node) => node.blockchain) },
    'ready',
  )
  await stopSignal
  await running.stop()
  await faucet?.stop()
  await context.close()
  return 0
}
