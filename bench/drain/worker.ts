/** One worker process of the drain bench: the parent starts and stops its engines. */
import { openContext, startEngines } from '#context'
import { readConfig } from '#runtime/config'
import { createLog } from '#runtime/log/log'
import type { Ready } from './platform.ts'

export type WorkerCommand = 'start' | 'stop' | 'heap' | 'cpu' | 'end'

const { dataDir, connection, nodeUrl, rootKey, blockchain } = JSON.parse(process.argv[2]!) as Ready
// Compiled to CommonJS, which waits for nothing at its top level.
const opening = openContext({
  config: readConfig({ dataDir, port: 0, logLevel: 'warn', crosschainEnvironment: 'TEST' }, {}),
  log: createLog('warn'),
  connection,
  nodes: [{ blockchain, rpcUrl: nodeUrl, local: true }],
  rootKey: Buffer.from(rootKey, 'hex'),
})
let engines: ReturnType<typeof startEngines> | undefined

/** Bytes of live objects. */
function heapBytes(): number {
  global.gc?.()
  return process.memoryUsage().heapUsed
}

/** Milliseconds of a core that the process has used. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

async function execute(order: WorkerCommand): Promise<number> {
  if (order === 'cpu') return cpuMs()
  if (order === 'heap') return heapBytes()
  const { ctx, close } = await opening
  if (order === 'start') engines ??= startEngines(ctx)
  else {
    await engines?.stop()
    engines = undefined
  }
  if (order === 'end') await close()
  return 0
}

let queue = Promise.resolve(0)
process.on('message', (order: WorkerCommand) => {
  queue = queue.then(() => execute(order))
  void queue.then((answer) => process.send?.(answer))
})
process.on('disconnect', () => void execute('end').finally(() => process.exit()))
process.on('SIGINT', () => undefined)
void opening.then(() => process.send?.('ready'))
