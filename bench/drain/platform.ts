/**
 * The platform of the drain bench, in a process of its own: what `sandbox` puts together, but its engines are started
 * and stopped when the parent says so. Says what a client needs to know in a message when it is ready.
 */
import { randomBytes } from 'node:crypto'
import { networks } from '#chains/networks/index'
import { openContext, startApi, startEngines } from '#context'
import { seedSandboxEntity } from '#custody/index'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { readConfig } from '#runtime/config'
import { startEmbeddedPostgres } from '#runtime/db/embedded/index'
import { createLog } from '#runtime/log/log'
import { startLocalChains } from '#sandbox/chains/index'
import { sandboxEntity, sandboxEntitySecret, sandboxKeyId, sandboxKeySecret } from '#sandbox/credentials'

export type Ready = {
  url: string
  apiKey: string
  entitySecret: string
  /** The node itself, past the address that is published and journals what passes. */
  nodeUrl: string
  chainId: number
  usdc: `0x${string}`
}

export type Order = 'start' | 'stop' | 'end'

const [dataDir = '', blockTimeMs, gasLimit] = process.argv.slice(2)
const log = createLog('warn')
const config = readConfig({ dataDir, port: 0, logLevel: 'warn' }, {})

// Durable, like the sandbox that a person starts: commits wait for the disk, and the chain's journal is written.
const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
const local = await startLocalChains({
  networks: networks.filter(({ blockchain }) => blockchain === 'BASE-SEPOLIA'),
  dataDir,
  ephemeral: false,
  blockTimeMs: Number(blockTimeMs),
  gasLimit: BigInt(gasLimit!),
  log,
})
const chain = local.chains[0]!
const nodes = [{ blockchain: chain.blockchain, rpcUrl: chain.rpcUrl, local: true }]
const { connection } = postgres
const { ctx, close } = await openContext({ config, log, connection, nodes, rootKey: randomBytes(32) })
const nowMs = ctx.clock.nowMs()
const { id: entityId, environment } = sandboxEntity
await ctx.database.tx(async (tx) => {
  await insertEntity(tx, { ...sandboxEntity, nowMs })
  await insertApiKey(tx, { entityId, environment, id: sandboxKeyId, secret: sandboxKeySecret, nowMs })
})
await seedSandboxEntity(ctx, { entityId, secretHex: sandboxEntitySecret })
const api = await startApi(ctx)
let engines: ReturnType<typeof startEngines> | undefined

async function obey(order: Order): Promise<void> {
  if (order === 'start') engines ??= startEngines(ctx)
  else {
    await engines?.stop()
    engines = undefined
  }
  if (order === 'end') await end()
  process.send?.(order)
}

async function end(): Promise<void> {
  await api.stop()
  await close()
  await local.stop()
  await postgres.stop()
}

let queue = Promise.resolve()
process.on('message', (order: Order) => {
  queue = queue.then(() => obey(order))
})
process.on('disconnect', () => void obey('end').finally(() => process.exit()))
// The parent says when to end; Ctrl-C reaches the whole group and must not end this before its turn.
process.on('SIGINT', () => undefined)
process.send?.({
  url: api.url,
  apiKey: `TEST_API_KEY:${sandboxKeyId}:${sandboxKeySecret}`,
  entitySecret: sandboxEntitySecret,
  nodeUrl: chain.nodeUrl,
  chainId: chain.chainId,
  usdc: chain.tokens.USDC,
} satisfies Ready)
