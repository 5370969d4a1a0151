import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Blockchain } from '#chains/blockchains'
import { type ContextInput, openContext, startApi } from '#context'
import { seedSandboxEntity } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead } from '#engines/indexer/index'
import { newId } from '#lib/ids'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { type Config, readConfig } from '#runtime/config'
import type { Connection, Database } from '#runtime/db/db'
import { callerOf } from '#runtime/outbound/call'
import { keyScopes } from '#runtime/scope'
import { bankOf } from '#sandbox/bank'
import { openCatchers } from '#sandbox/catcher/index'
import { ciphertextEndpoint } from '#sandbox/ciphertext-endpoint'
import {
  publicCredentials,
  sandboxApiKey,
  sandboxClientKey,
  sandboxEntity,
  sandboxEntitySecret,
} from '#sandbox/credentials'
import { openSandboxEngines } from '#sandbox/engines'
import { openFaucet } from '#sandbox/faucet/faucet'
import { causesOf, type Faults, openFaults, requestFaults, webhookFaults } from '#sandbox/faults/index'
import { openLab } from '#sandbox/lab'
import { seedFresh } from '#sandbox/seed'
import { dropSnapshots, openSnapshotPlace } from '#sandbox/snapshots/index'
import { cloneDatabase } from '#testing/databases/database'
import { testRootKey } from '#testing/databases/template'
import { startTestChains, type TestChain } from './chain.ts'
import { type MovableClock, movableClock } from './clock.ts'
import { requireDeclaredAnswers } from './declared-answers.ts'
import { testLog } from './log.ts'
import { type Tenant, tenantOf } from './tenant.ts'
import { until } from './until.ts'

export type HarnessOptions = {
  /** The chains to start, one node each. Default: BASE-SEPOLIA. */
  blockchains?: readonly Blockchain[]
  /** Whether indexer, transaction worker and treasury run. Default: true. */
  engines?: boolean
  /** Whether the API has the operations that control the chains. Default: false. */
  lab?: boolean
  /** Mine on a timer instead of at once. */
  blockTimeMs?: number
  gasLimit?: bigint
  config?: Partial<Config>
  /** Makes the database; default: a copy of the seeded template on the server of the test run. */
  makeDatabase?: () => Promise<{ connection: Connection; drop(): Promise<void> }>
  /** The root keys of its process. Default: that of all test databases. */
  rootKeys?: readonly Buffer[]
  /** Nodes of further chains, which the test runs and ends itself. */
  furtherNodes?: ContextInput['nodes']
  /** Settings of a chain's node that differ from the defaults, such as the address of a proxy or its limits. */
  node?: (chain: TestChain) => Promise<Partial<ContextInput['nodes'][number]>>
}

/** A whole platform of one test file: the HTTP view of a customer, and handles that only a test may use. */
export type Harness = Tenant & {
  url: string
  ctx: EngineCtx
  database: Database
  connection: Connection
  clock: MovableClock
  /** As named in the options. */
  chains: readonly TestChain[]
  /** The chain of this name; the first one without a name. */
  chain(blockchain?: string): TestChain
  /** A second tenant with an API key and a registered entity secret. */
  newEntity(environment?: 'TEST' | 'LIVE'): Promise<Tenant>
  /** Pays `usdc` (in whole coins, as text) and native coins from outside to an address. */
  fundWallet(address: string, funds: { usdc?: string; native?: string; blockchain?: string }): Promise<void>
  /** Runs a step when this harness closes. */
  atClose(step: () => Promise<unknown>): void
  stopEngines(): Promise<void>
  startEngines(): void
  close(): Promise<void>
}

/** Opens a platform on a separate database and chains; always `close` it in `afterAll`. */
export async function openHarness(options: HarnessOptions = {}): Promise<Harness> {
  const undo: (() => Promise<unknown>)[] = []
  try {
    return await openParts(options, undo)
  } catch (error) {
    await undoAll(undo)
    throw error
  }
}

async function openParts(options: HarnessOptions, undo: (() => Promise<unknown>)[]): Promise<Harness> {
  const { blockchains = ['BASE-SEPOLIA'], blockTimeMs, gasLimit, rootKeys: rootKey = testRootKey } = options
  const [clone, local] = await Promise.all([
    (options.makeDatabase ?? seededDatabase)(),
    startTestChains({ blockchains, blockTimeMs, gasLimit, journaled: options.lab === true }),
  ])
  undo.push(clone.drop, local.stop)
  const { connection } = clone
  const clock = movableClock()
  const dataDir = await mkdtemp(join(tmpdir(), 'bezant-harness-'))
  undo.push(() => rm(dataDir, { recursive: true, force: true }))
  const settings = {
    port: 0,
    logLevel: 'error',
    // The origin in links of pages: a test that opens one starts them itself.
    challengeUrl: 'https://pages.example',
    databaseConnectionsMax: 5,
    dataDir,
    // Most tests compare what requests leave behind.
    requestLog: 'off' as const,
    ...loopback,
    ...options.config,
  }
  const config = readConfig(settings, {})
  const log = testLog(config.logLevel)
  const own = await Promise.all(local.chains.map((chain) => nodeOf(chain, options)))
  const nodes = [...own, ...(options.furtherNodes ?? [])]
  const pinCost = { memoryKib: 64, passes: 1 }
  const opened = { config, log, connection, rootKey, nodes, clock, pinCost }
  const { ctx, close, renewKeys } = await openContext({ ...opened, bank: bankOf(config) })
  undo.push(close, () => requireDeclaredAnswers(ctx.metrics))
  const faucet = openFaucet(ctx, local.local)
  undo.push(faucet.stop)
  const faults = openFaults({ nowMs: () => ctx.clock.nowMs(), blockchains })
  const engines = openSandboxEngines(ctx, faucet, webhookFaults(faults, callerOf(config)))
  undo.push(engines.stop)
  if (options.engines !== false) {
    void engines.start()
    await untilFollowed(ctx)
  }
  const { apiKey } = sandboxTenant
  const { stop, saved, ...catchers } = openCatchers(ctx, () => api.url)
  const place = openSnapshotPlace({ config, connection, isDurable: false })
  const seed = (fresh: EngineCtx) => seedFresh(fresh, publicCredentials)
  const localUrl = () => api.url
  const parts = { faults, place, engines, saved, localUrl, renewKeys, seed, rootKey: testRootKey }
  const lab = openLab({ ctx, chains: local.local, faucet, ...parts })
  undo.push(lab.stop, () => dropSnapshots(place))
  const sandboxEndpoints = [...catchers.endpoints, ciphertextEndpoint, ...(options.lab ? lab.endpoints : [])]
  const around = options.lab ? { ...faultsAround(faults), around: lab.around, restores: lab.restores } : {}
  const api = await startApi(ctx, { faucet, apiKey, ...catchers, ...around, endpoints: sandboxEndpoints })
  undo.push(api.stop, stop)
  const chain = (blockchain?: string) => chainIn(local.chains, blockchain)
  return {
    ...tenantOf(api.url, sandboxTenant),
    url: api.url,
    ctx,
    database: ctx.database,
    connection,
    clock,
    chains: local.chains,
    chain,
    newEntity: (environment = 'TEST') => newEntity(ctx, api.url, environment),
    fundWallet: (address, funds) => fund(chain(funds.blockchain), address, funds),
    atClose: (step) => void undo.push(step),
    stopEngines: engines.stop,
    startEngines: () => void engines.start(),
    close: () => undoAll(undo),
  }
}

const seededDatabase = () => cloneDatabase('seeded')

const faultsAround = (faults: Faults) => ({ intercept: requestFaults(faults), causesOf: causesOf(faults) })

async function nodeOf(chain: TestChain, { node }: HarnessOptions) {
  const { blockchain, rpcUrl } = chain
  return { blockchain, rpcUrl, local: true, ...(await node?.(chain)) }
}

/** Allows receivers of notifications, and pages with passkeys, on this machine. */
const loopback: Partial<Config> = {
  notificationTargets: 'loopback',
  passkeyOrigins: ['loopback'],
  loopbackPages: true,
  crosschainEnvironment: 'TEST',
  crosschainEntity: sandboxEntity.id,
  paymentBatchMs: 100,
}

const sandboxTenant = {
  entityId: sandboxEntity.id,
  apiKey: sandboxApiKey,
  clientKey: sandboxClientKey,
  entitySecret: sandboxEntitySecret,
}

/** A chain that is not local is followed from the head that the indexer finds first: it would miss what a test does before that. */
async function untilFollowed({ database, chains }: EngineCtx): Promise<void> {
  for (const { local, network } of chains.list()) {
    const isFollowed = async () => local || (await canonicalHead(database, network.blockchain)) !== undefined
    await until(isFollowed, `${network.blockchain} is followed`)
  }
}

function chainIn(chains: readonly TestChain[], blockchain: string | undefined): TestChain {
  const found = blockchain ? chains.find((chain) => chain.blockchain === blockchain) : chains[0]
  if (!found) throw new Error(`this harness has no chain ${blockchain ?? ''}: name it in \`blockchains\``)
  return found
}

/** Inserts an entity with keys of all scopes and a registered secret; its requests go to `url`. */
export async function newEntity(ctx: EngineCtx, url: string, environment: 'TEST' | 'LIVE'): Promise<Tenant> {
  const nowMs = ctx.clock.nowMs()
  const entityId = newId(nowMs)
  const entitySecret = randomBytes(32).toString('hex')
  const keys = await ctx.database.tx(async (tx) => {
    await insertEntity(tx, { id: entityId, environment, name: 'Second', nowMs })
    const { text: apiKey } = await insertApiKey(tx, { entityId, environment, scopes: keyScopes, nowMs })
    const { text: clientKey } = await insertApiKey(tx, { entityId, environment, scopes: ['client'], nowMs })
    return { apiKey, clientKey }
  })
  await seedSandboxEntity(ctx, { entityId, secretHex: entitySecret })
  return tenantOf(url, { entityId, ...keys, entitySecret })
}

async function fund(chain: TestChain, address: string, funds: { usdc?: string; native?: string }) {
  if (funds.native) await chain.send(address, atomicOf(funds.native, 18))
  if (funds.usdc) await chain.send(address, atomicOf(funds.usdc, 6), 'USDC')
}

/** Converts an amount to base units: "1.5" of 6 decimals is 1500000n. */
export function atomicOf(amount: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** Runs every step, latest first; throws the first failure at the end. */
async function undoAll(undo: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of undo.splice(0).reverse()) await step().catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
