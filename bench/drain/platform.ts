/**
 * The platform of the drain bench, in a separate process: database, node and API as in the sandbox. The engines run in
 * another process (`worker.ts`), which calls the node directly. Reports the settings for both when it is ready.
 */

import { randomBytes } from 'node:crypto'
import type { TokenSymbol } from '#chains/network'
import { type NetworkName, networks } from '#chains/networks/index'
import { openContext, startApi } from '#context'
import { seedSandboxEntity } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import type { Hex } from '#lib/hex'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { type RequestLogSetting, readConfig } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import { createLog } from '#runtime/log/log'
import { seedAttestationKeys } from '#sandbox/attestation-keys'
import { type BlockPace, startLocalChains } from '#sandbox/chains/index'
import { sandboxEntitySecret } from '#sandbox/credentials'
import { openFaucet } from '#sandbox/faucet/faucet'
import { startEmbeddedPostgres } from '#sandbox/postgres/index'
import { benchApiKey, benchEntity, benchKey } from '../entity.ts'
import { acceptTransfers } from './backlog.ts'

export type Ready = {
  url: string
  apiKey: string
  entitySecret: string
  /** The node itself, behind the address that a sandbox publishes, which journals all requests. */
  nodeUrl: string
  blockchain: NetworkName
  chainId: number
  /** The address of USDC, in the form of an EVM chain: benches on others do not ask for it. */
  usdc: `0x${string}`
  /** Settings of its workers. */
  dataDir: string
  connection: Connection
  rootKey: string
}

export type PlatformCommand =
  | { accept: { count: number; walletIds: readonly string[] } }
  | { requestLog: RequestLogSetting }
  | { pay: { address: string; token: TokenSymbol | 'NATIVE'; amountAtomic: string } }
  | { pace: BlockPace }
  | 'end'

const [dataDir = '', blockTimeMs, gasLimit, named] = process.argv.slice(2)
const log = createLog('warn')
const config = readConfig(
  { dataDir, port: 0, logLevel: 'warn', crosschainEnvironment: 'TEST', unifiedHourlyMaxAtomic: 10n ** 18n },
  {},
)

/** Starts everything; returns the settings for other processes, and the function that carries out an order. */
async function startPlatform() {
  // An empty database on this machine, in place of one of its own: for servers of several nodes.
  const url = process.env['BENCH_DATABASE_URL']
  const postgres = url
    ? { connection: { url }, stop: async () => undefined }
    : // Commits wait for the disk, as they do where money moves.
      await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  const local = await startLocalChains({
    networks: networks.filter(({ blockchain }) => blockchain === named),
    dataDir,
    ephemeral: true,
    blockTimeMs: Number(blockTimeMs),
    gasLimit: BigInt(gasLimit!),
    log,
  })
  const chain = local.chains[0]!
  const blockchain = named as NetworkName
  const nodes = [{ blockchain, rpcUrl: chain.nodeUrl, local: true }]
  const { connection } = postgres
  const rootKey = randomBytes(32)
  const { ctx, close } = await openContext({ config, log, connection, nodes, rootKey })
  await seed(ctx)
  const api = await startApi(ctx)
  const faucet = openFaucet(ctx, local.chains)
  const execute = async (order: PlatformCommand): Promise<string> => {
    let said = 'done'
    if (order === 'end') {
      await faucet.stop()
      await api.stop()
      await close()
      await local.stop()
      await postgres.stop()
    } else if ('requestLog' in order) config.requestLog = order.requestLog
    else if ('pace' in order) await chain.setPace(order.pace)
    else if ('pay' in order) {
      const { address, token, amountAtomic } = order.pay
      said = await faucet.pay(blockchain, address, token, BigInt(amountAtomic))
    } else await acceptTransfers(ctx, order.accept)
    process.send?.(said)
    return said
  }
  const ready: Ready = {
    url: api.url,
    apiKey: benchApiKey,
    entitySecret: sandboxEntitySecret,
    nodeUrl: chain.nodeUrl,
    blockchain,
    chainId: chain.chainId,
    usdc: chain.tokens.USDC as Hex,
    dataDir,
    connection,
    rootKey: rootKey.toString('hex'),
  }
  return { ready, execute }
}

async function seed(ctx: EngineCtx): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  await ctx.database.tx(async (tx) => {
    await insertEntity(tx, { ...benchEntity, nowMs })
    await insertApiKey(tx, { ...benchKey, nowMs })
  })
  await seedSandboxEntity(ctx, { entityId: benchEntity.id, secretHex: sandboxEntitySecret })
  await seedAttestationKeys({ ...ctx, db: ctx.database })
}

// Compiled to CommonJS, which waits for nothing at its top level.
const started = startPlatform()
const execute = async (order: PlatformCommand) => (await started).execute(order)
let queue: Promise<unknown> = Promise.resolve()
process.on('message', (order: PlatformCommand) => {
  queue = queue.then(() => execute(order))
})
process.on('disconnect', () => void execute('end').finally(() => process.exit()))
// The parent ends this process; Ctrl-C reaches the whole group and must not end it earlier.
process.on('SIGINT', () => undefined)
void started.then(({ ready }) => process.send?.(ready))
