import { networkOf } from '#chains/networks/index'
import { createLog } from '#runtime/log/log'
import { startLocalChains } from '#sandbox/chains/index'

/** A process that tests kill: starts the chains of its JSON argument and prints them as JSON. */
async function start(): Promise<void> {
  const options = JSON.parse(process.argv[2]!)
  const local = await startLocalChains({
    ...options,
    networks: options.blockchains.map(networkOf),
    log: createLog(process.env['LOG_LEVEL'] ?? 'warn'),
  })
  process.stdout.write(`${JSON.stringify(local.chains)}\n`)
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => local.stop().then(() => process.exit(0)))
  }
}

void start()
