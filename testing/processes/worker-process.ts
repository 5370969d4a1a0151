/**
 * A worker process that tests kill and freeze; `worker.ts` is the other end of its standard input and output. It can open
 * and close one platform after another, because starting a process costs more than most tests.
 */
import { createInterface } from 'node:readline'
import { topics } from '#api/index'
import type { Blockchain } from '#chains/blockchains'
import { type Context, openContext, startApi, startAttester, startAttesterEngines } from '#context'
import { startAttestation } from '#engines/attestation/index'
import { startFacilitator } from '#engines/facilitator/index'
import { startHistories } from '#engines/indexer/events/index'
import { startIndexer } from '#engines/indexer/index'
import { startReconciler } from '#engines/indexer/reconciliation/index'
import { startFlow } from '#engines/ledger/flow/index'
import { startTokens } from '#engines/tokens/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { journalsOfOthers } from '#engines/transactions/journal/index'
import { startReviews } from '#engines/treasury/address-book/index'
import { type GasFaucet, journaledResources, startTreasury } from '#engines/treasury/index'
import { startUnifiedBalance } from '#engines/unified-balance/index'
import { startWebhooks } from '#engines/webhooks/index'
import { type Config, readConfig } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import { createLog } from '#runtime/log/log'
import { armFailpoint, type FailpointPlan } from '#runtime/scheduling/failpoints'
import { sandboxEntity } from '#sandbox/credentials'
import { openFaucet } from '#sandbox/faucet/faucet'
import { testRootKey } from '#testing/databases/template'

export type Role =
  | 'api'
  | 'attestation'
  | 'attester'
  | 'facilitator'
  | 'flow'
  | 'indexer'
  | 'histories'
  | 'reconciler'
  | 'reviews'
  | 'transactions'
  | 'tokens'
  | 'treasury'
  | 'unified-balance'
  | 'webhooks'

export type WorkerOptions = {
  connection: Connection
  rpcUrl: string
  /** All endpoints of its chain, which then is none of this machine: their answers are compared. */
  rpcUrls?: readonly string[] | undefined
  blockchain: Blockchain
  /** Further chains. */
  others?: readonly { blockchain: Blockchain; rpcUrl: string }[]
  roles: readonly Role[]
  /** Directory of its journal; default: one for this database, removed when the test process ends. */
  dataDir?: string
  /** Armed when it starts to work, and disarmed when it closes. */
  failpoint?: FailpointPlan | undefined
  logLevel?: string
  /** Milliseconds by which its machine's clock is ahead of the true time. */
  hostOffMs?: number
  /** Whether its API is that of a sandbox. */
  sandbox?: boolean
  /** Whether treasuries have the coins alone that tests give them, and not those of a faucet. */
  withoutFaucet?: boolean
  /** Default: that of the test databases. */
  rootKeyHex?: string
  settings?: Partial<
    Pick<Config, 'port' | 'attesters' | 'attestationThreshold' | 'bankRail' | 'readDatabaseUrls'>
  >
}

export type WorkerCommand =
  | { say: 'open'; options: WorkerOptions }
  | { say: 'start' }
  | { say: 'arm'; failpoint: FailpointPlan | undefined }
  | { say: 'collect' }
  | { say: 'close' }

export type WorkerAnswer = { said: 'loaded' | WorkerCommand['say']; url?: string }

type Running = { stop(): Promise<void> }

let options: WorkerOptions
let context: Context
let running: Running[] = []

const answer = (said: WorkerAnswer) => process.stdout.write(`${JSON.stringify(said)}\n`)

async function execute(order: WorkerCommand): Promise<WorkerAnswer> {
  if (order.say === 'open') await open(order.options)
  if (order.say === 'start') return { said: 'start', ...(await start()) }
  if (order.say === 'arm') armFailpoint(order.failpoint)
  if (order.say === 'collect') await collect()
  if (order.say === 'close') await close()
  return { said: order.say }
}

const trueNowMs = Date.now

async function open(given: WorkerOptions): Promise<void> {
  options = given
  const { hostOffMs = 0 } = options
  Date.now = () => trueNowMs() + hostOffMs
  const { connection, rpcUrl, rpcUrls, blockchain, others = [] } = options
  const local = rpcUrls === undefined
  context = await openContext({
    config: readConfig(
      {
        databaseConnectionsMax: 6,
        port: 0,
        challengeUrl: 'https://pages.example',
        notificationTargets: 'loopback',
        crosschainEnvironment: 'TEST',
        crosschainEntity: sandboxEntity.id,
        paymentBatchMs: 100,
        ...(options.dataDir && { dataDir: options.dataDir }),
        ...options.settings,
      },
      {},
    ),
    log: createLog(options.logLevel ?? 'fatal'),
    connection,
    rootKey: options.rootKeyHex === undefined ? testRootKey : Buffer.from(options.rootKeyHex, 'hex'),
    nodes: [{ blockchain, rpcUrl, rpcUrls, local }, ...others.map((node) => ({ ...node, local: true }))],
    inspects: !local,
  })
}

async function start(): Promise<{ url?: string }> {
  const { ctx } = context
  armFailpoint(options.failpoint)
  const { roles } = options
  if (roles.includes('indexer')) running.push(startIndexer(ctx))
  if (roles.includes('histories')) running.push(startHistories(ctx))
  if (roles.includes('reconciler')) running.push(startReconciler(ctx))
  const transactions = roles.includes('transactions')
    ? startTransactionWorker(ctx, journaledResources)
    : undefined
  if (transactions) running.push(transactions)
  if (roles.includes('reviews')) running.push(startReviews(ctx))
  if (roles.includes('tokens')) running.push(startTokens(ctx))
  if (roles.some((role) => ['attestation', 'facilitator', 'treasury', 'unified-balance'].includes(role))) {
    const faucet = openFaucet(ctx)
    const drip: GasFaucet = async (on, address) =>
      options.withoutFaucet || faucet.drip(on, address, { native: true, tokens: [] })
    running.push(faucet)
    if (roles.includes('attestation')) running.push(startAttestation(ctx, drip))
    if (roles.includes('treasury'))
      running.push(startTreasury(ctx, transactions?.journals ?? journalsOfOthers, drip))
    if (roles.includes('facilitator')) running.push(startFacilitator(ctx, drip))
    if (roles.includes('unified-balance')) running.push(startUnifiedBalance(ctx, drip))
  }
  if (roles.includes('attester')) running.push(await startAttester(ctx), startAttesterEngines(ctx))
  if (roles.includes('webhooks')) running.push(startWebhooks(ctx, topics))
  if (roles.includes('flow')) running.push(startFlow(ctx))
  if (!roles.includes('api')) return {}
  const faucet = options.sandbox ? openFaucet(ctx) : undefined
  const api = await startApi(ctx, faucet && { faucet, endpoints: [] })
  running.push(...(faucet ? [faucet] : []), api)
  return { url: api.url }
}

/** Collects all garbage, objects released by finalisers included; the process was started with `--expose-gc`. */
async function collect(): Promise<void> {
  if (!globalThis.gc) throw new Error('start the process with --expose-gc')
  for (let pass = 0; pass < 3; pass++) {
    globalThis.gc()
    await new Promise((resume) => setImmediate(resume))
  }
}

async function close(): Promise<void> {
  armFailpoint(undefined)
  await Promise.all(running.map((each) => each.stop()))
  running = []
  await context.close()
  Date.now = trueNowMs
}

// The parent process may be gone.
process.stdout.on('error', () => process.exit(0))
void executeAll()

async function executeAll(): Promise<void> {
  answer({ said: 'loaded' })
  for await (const line of createInterface(process.stdin))
    answer(await execute(JSON.parse(line) as WorkerCommand))
  process.exit(0)
}
