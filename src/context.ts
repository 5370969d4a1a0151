import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import {
  attesterEndpoints,
  bankResultEndpoints,
  endpoints,
  introduction,
  notBuilt,
  pageOperations,
  probes,
  removedPaths,
  topics,
} from '#api/index'
import { showPaymentPage } from '#api/payment-intents/pages/show-payment-page'
import type { Faucet } from '#api/sandbox-ctx'
import type { Chains } from '#chains/chain'
import { inspectChains } from '#chains/check-endpoints'
import type { Inspection } from '#chains/facets/endpoints'
import { requireNetwork } from '#chains/networks/index'
import { createChains, type Node } from '#chains/registry'
import { openCustody, SealBroken } from '#custody/index'
import { openKeyService } from '#custody/key-services/index'
import type { GivenRootKeys, WhileWaiting } from '#custody/root-key/index'
import { startAttestation, startRecordingMessages } from '#engines/attestation/index'
import { type Restores, startAudit } from '#engines/audit/index'
import type { BankRail } from '#engines/bank-rail'
import type { EngineCtx } from '#engines/ctx'
import { startFacilitator } from '#engines/facilitator/index'
import { startHistories } from '#engines/indexer/events/index'
import { startIndexer, startPruning } from '#engines/indexer/index'
import { startReconciler } from '#engines/indexer/reconciliation/index'
import { startClosing } from '#engines/ledger/closing/index'
import { startFlow } from '#engines/ledger/flow/index'
import { requireNetworksOfBooks, seedTokens } from '#engines/ledger/tokens/index'
import { startModular } from '#engines/modular/index'
import type { CausesOf } from '#engines/movements/index'
import { startTokens } from '#engines/tokens/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { inspectAccounts } from '#engines/transactions/operations/index'
import { startReviews } from '#engines/treasury/address-book/index'
import { openHttpRail } from '#engines/treasury/banking/index'
import { type GasFaucet, journaledResources, startTreasury } from '#engines/treasury/index'
import { startMoneyWatch } from '#engines/treasury/reconciliation/index'
import { startUnifiedBalance } from '#engines/unified-balance/index'
import { startWebhooks } from '#engines/webhooks/index'
import {
  type IdentityCtx,
  type OpenIdentityInput,
  openIdentity,
  requireSession,
  requireTokenUser,
} from '#identity/index'
import { openMemberSessions, openProviderSignIn } from '#identity/members/index'
import { ApiError } from '#lib/errors'
import { type Clock, hostOffMaxMs } from '#lib/time'
import { openDatabaseClock } from '#runtime/clock/database-clock'
import { type Config, guessDirectoryOf } from '#runtime/config'
import { type Connection, openDatabase } from '#runtime/db/db'
import { explainDatabase } from '#runtime/db/explain'
import { migrate } from '#runtime/db/migrate'
import { watchNewerSchema } from '#runtime/db/newer-schema'
import { openReplicas } from '#runtime/db/replicas/replicas'
import { requireSessionSettings } from '#runtime/db/session-settings'
import { watchSessions } from '#runtime/db/sessions'
import { watchVolume } from '#runtime/db/volume'
import type { Endpoint } from '#runtime/http/endpoint'
import type { InterceptRequest } from '#runtime/http/intercept'
import { apiAddress, explainListen, type ListenAddress, pageAddress } from '#runtime/http/port'
import type { AroundRequests } from '#runtime/http/register'
import { createServer, type RequestGuard } from '#runtime/http/server'
import { endAlarm, raiseAlarm } from '#runtime/log/alarms'
import type { Log } from '#runtime/log/log'
import type { Mailer } from '#runtime/mail/mailer'
import { openSmtp } from '#runtime/mail/smtp'
import type { OutboundCaller } from '#runtime/outbound/call'
import { isPageOrigin } from '#runtime/page-origins/page-origins'
import { startPruningRequests } from '#runtime/request-log/prune'
import { createBudgets } from '#runtime/scheduling/budgets'
import { armFailpoint } from '#runtime/scheduling/failpoints'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import type { RequestScope, Scope } from '#runtime/scope'
import { openMetrics } from '#runtime/telemetry/metrics'

export type ContextInput = {
  config: Config
  log: Log
  connection: Connection
  /** Whether `makeTables` is done. */
  hasTables?: boolean
  /** The root key or, while it is rotated, both. */
  rootKey: GivenRootKeys
  /** Lets the process wait for its key service. */
  whileWaiting?: WhileWaiting
  /** The nodes to connect to. `local` chains may be rewound to any depth; configured ones may not. */
  nodes: readonly (Omit<Node, 'network'> & { blockchain: string })[]
  /** Whether endpoints are verified to be of their network before use: set by processes that act on them. */
  inspects?: boolean
  /** Default: the clock of the database server. */
  clock?: Clock
  /** Default: the bank that the configuration connects, if any. */
  bank?: BankRail | undefined
} & Pick<OpenIdentityInput, 'pinCost'>

export type Context = {
  ctx: EngineCtx
  /** Opens again the keys that this process holds, after another database has taken the place of its own. */
  renewKeys(rootKey: GivenRootKeys): Promise<void>
  close(): Promise<void>
}

/** Creates every dependency once and migrates the database: the only place where the parts are wired together. */
export async function openContext(input: ContextInput): Promise<Context> {
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of opened.splice(0).reverse()) await end()
  }
  try {
    const ctx = await openParts(input, opened)
    return { ctx, renewKeys: (rootKey) => renewKeys(ctx, { ...input, rootKey }), close }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

/** `opened` gets the function that ends each part. */
async function openParts(input: ContextInput, opened: (() => Promise<unknown>)[]): Promise<EngineCtx> {
  const { config, log, rootKey, pinCost } = input
  if (config.failpoint) {
    log.warn({ ...config.failpoint }, 'BEZANT_FAILPOINT is set: this process will end or freeze itself')
    armFailpoint(config.failpoint)
  }
  const callGasMax = BigInt(config.callGasMax)
  const nodes = input.nodes.map((node) => ({
    ...node,
    callGasMax,
    network: requireNetwork(node.blockchain),
  }))
  const chains = createChains(nodes, input.inspects ? inspectionTo(log) : undefined)
  opened.push(() => Promise.all(chains.list().map((chain) => chain.endpoints.close())))
  await inspectChains(chains)
  if (!input.hasTables) await makeTables(input)
  await requireSessionSettings(input.connection)
  const database = openDatabase(input.connection, config.databaseConnectionsMax)
  opened.push(database.close)
  const clock = input.clock ?? (await followDatabaseClock({ database, log }, opened))
  await requireNetworksOfBooks(database)
  await seedTokens(
    database,
    chains.list().map((chain) => chain.network),
    clock.nowMs(),
  )
  const scope: Scope = { config, database, db: database, clock, log, metrics: openMetrics() }
  const keyService = config.keyService && openKeyService(config.keyService)
  const { whileWaiting } = input
  const custody = await openCustody({ ...scope, rootKey, keyService, whileWaiting }).catch(explainRootKey)
  opened.push(() => custody.close())
  const identity = openIdentity({ ...scope, custody, pinCost, guessDirectory: guessDirectoryOf(config) })
  if (input.inspects) void inspectAccounts({ ...scope, chains })
  opened.push(watchSessions(scope).stop, watchVolume(scope).stop, watchNewerSchema(scope).stop)
  const bank = input.bank ?? (config.bankRail && openHttpRail(config.bankRail))
  return { ...scope, chains, custody, identity, bank }
}

/** Creates the tables of a database, or upgrades them to those of this version. */
export async function makeTables({
  connection,
  log,
}: Pick<ContextInput, 'connection' | 'log'>): Promise<void> {
  const repaired = (what: string) => log.warn({ repaired: what }, 'rights in the database were repaired')
  const applied = await migrate(connection, repaired).catch(explainDatabase(connection))
  if (applied.length > 0) log.info({ applied }, 'database migrated')
}

/** Everything that uses keys has the objects of the context, so the new parts take the place of the old ones in them. */
async function renewKeys(ctx: EngineCtx, { rootKey, pinCost }: ContextInput): Promise<void> {
  const { config, custody, identity } = ctx
  await custody.close()
  Object.assign(custody, await openCustody({ ...ctx, rootKey }).catch(explainRootKey))
  Object.assign(identity, openIdentity({ ...ctx, pinCost, guessDirectory: guessDirectoryOf(config) }))
}

async function followDatabaseClock(
  scope: Pick<Scope, 'database' | 'log'>,
  opened: (() => Promise<unknown>)[],
): Promise<Clock> {
  const { clock, stop } = await openDatabaseClock(scope)
  opened.push(stop)
  return clock
}

const inspectionTo = (log: Log): Inspection => ({
  refused: ({ reason, ...about }) =>
    raiseAlarm(log, 'endpoint-refused', about, `an endpoint is refused: ${reason}`, causeOf(about)),
  accepted: ({ blockchain, endpoint }) =>
    endAlarm(
      log,
      'endpoint-refused',
      { blockchain, endpoint },
      'a refused endpoint passed the inspection and is used now',
      causeOf({ blockchain, endpoint }),
    ),
})

const causeOf = ({ blockchain, endpoint }: { blockchain: string; endpoint: string }) =>
  `${blockchain} ${endpoint}`

/**
 * Starts the background engines of the `worker` role. They have started after the first attempt to open and merge the journals,
 * whose alarms are raised by then. `gasFaucet` gives gas to treasuries on local chains, and `deliver` calls the endpoints of webhooks.
 */
export function startEngines(ctx: EngineCtx, gasFaucet?: GasFaucet, deliver?: OutboundCaller): Service {
  const transactions = startTransactionWorker(ctx, journaledResources)
  return serviceOf([
    startIndexer(ctx),
    startHistories(ctx),
    startReconciler(ctx),
    startPruning(ctx),
    transactions,
    startTokens(ctx),
    startTreasury(ctx, transactions.journals, gasFaucet),
    startModular(ctx),
    startAttestation(ctx, gasFaucet),
    startUnifiedBalance(ctx, gasFaucet),
    startFacilitator(ctx, gasFaucet),
    startMoneyWatch(ctx),
    startReviews(ctx),
    startWebhooks(ctx, topics, deliver),
    startAudit(ctx),
    startFlow(ctx),
    startClosing(ctx),
    startPruningRequests(ctx),
  ])
}

/** Starts the engines of the `attester` role: they follow the chains, and record the messages that others ask it to sign. */
export const startAttesterEngines = (ctx: EngineCtx): Service =>
  serviceOf([startIndexer(ctx), startPruning(ctx), startRecordingMessages(ctx)])

/** Grace period of running requests after a stop signal. */
const drainMs = 2_500

/** A listening server. */
export type ListeningServer = { url: string; stop(): Promise<void> }

/** Additions of a sandbox to the API. */
type SandboxParts = {
  faucet: Faucet
  /** Shows the mails; used unless SMTP is configured. */
  mailer?: Mailer
  /** Whether notifications may be sent to this address of the server itself. */
  catches?: (url: URL) => boolean
  endpoints: readonly Endpoint<never>[]
  /** Names the faults that a movement met. */
  causesOf?: CausesOf
  /** Tells of restores of snapshots. */
  restores?: Restores
  /** Keeps pages of other sites from its operations. */
  guard?: RequestGuard
  /** Meets every request before its operation runs. */
  intercept?: InterceptRequest
  /** Runs the work of each request. */
  around?: AroundRequests
  /** The message for requests without a valid key: where to find one. */
  refusal?: string
  /** The public key with which the reference page sends its requests. */
  apiKey?: string
}

/** Starts the HTTP API on the configured host and port: the `api` role. */
export async function startApi(ctx: EngineCtx, sandbox?: SandboxParts): Promise<ListeningServer> {
  const { chains, custody, identity, bank, ...own } = ctx
  const replicas = sandbox ? undefined : openReplicasOf(own)
  const scope = { ...own, ...(replicas && { replicas }) }
  const { smtpUrl, mailFrom } = scope.config
  const chainsOf = chainsByRequest(chains, scope.config)
  const mailer = smtpUrl ? openSmtp(smtpUrl, mailFrom) : sandbox?.mailer
  const server = await createServer({
    scope,
    endpoints: [
      ...endpoints,
      ...(scope.config.bankRail ? bankResultEndpoints : []),
      ...(sandbox?.endpoints ?? []),
    ],
    pages: { introduction, tryOutKey: sandbox?.apiKey, isSandbox: sandbox !== undefined },
    removed: removedPaths,
    notBuilt,
    logsRequests: true,
    guard: sandbox?.guard,
    intercept: sandbox?.intercept,
    around: sandbox?.around,
    refusal: sandbox?.refusal,
    // A sandbox only logs that the clock is off, and keeps serving.
    ...(!sandbox && { notReady: () => clockTrouble(ctx.clock) }),
    widen: (request) =>
      Object.assign(request, {
        chains: chainsOf(request),
        custody,
        identity,
        bank,
        mailer,
        ...(sandbox && {
          faucet: sandbox.faucet,
          catches: sandbox.catches,
          causesOf: sandbox.causesOf,
          restores: sandbox.restores,
        }),
      }),
    readUser: (request, token) => requireTokenUser(request as IdentityCtx, token),
    readSession: (request, token) => requireSession(request as IdentityCtx, token),
    readMember: openMemberSessions(scope.database),
    providerSignIn: openProviderSignIn(scope),
  })
  const listener = await listen(server, apiAddress(scope.config))
  scope.config.publicUrl ??= listener.url
  const stop = () => listener.stop().finally(() => Promise.all([mailer?.close(), replicas?.stop()]))
  return { ...listener, stop }
}

function openReplicasOf({ config, database, log, metrics }: Scope) {
  const { readDatabaseUrls: urls, databaseConnectionsMax: maxConnections } = config
  if (urls.length === 0) return undefined
  return openReplicas({ urls, maxConnections, database, log, metrics })
}

/** Time of nodes that an address may use at once, in seconds of its share, and the share of all addresses of an entity. */
const pageBurstSeconds = 10
const addressesShare = 8

/**
 * Gives each request the chains for its reads. Those of an entity's pages take turns by address, apart from those of its API
 * keys, and have a budget of the time of nodes.
 */
function chainsByRequest(chains: Chains, config: Config): (request: RequestScope) => Chains {
  const { pageNodeMs = config.loopbackPages ? 0 : 500 } = config
  const budgetOf = (perSecond: number) => createBudgets({ perSecond, burst: perSecond * pageBurstSeconds })
  const ofAddress = budgetOf(pageNodeMs)
  const ofEntity = budgetOf(pageNodeMs * addressesShare)
  const timeOf = (entity: string, page: string) => ({
    require: () => {
      if (ofAddress.hasLeft([`${entity} ${page}`]) && ofEntity.hasLeft([entity])) return
      throw new ApiError(
        'tooManyRequests',
        'The time of nodes for this address, or for all addresses with this key, is used up: wait for some seconds, and ask for less.',
      )
    },
    spend: (nodeMs: number) => {
      ofAddress.spend([`${entity} ${page}`], nodeMs)
      ofEntity.spend([entity], nodeMs)
    },
  })
  return ({ entity: { id }, page }) =>
    page === undefined
      ? chains.onBehalfOf({ name: id })
      : chains.onBehalfOf({
          name: `${id} pages`,
          part: page,
          ...(pageNodeMs > 0 && { time: timeOf(id, page) }),
        })
}

/** Starts the page of users on a port, and so an origin, of its own: its files, its operations and `/ping`. */
export async function startPage(ctx: EngineCtx, around?: AroundRequests): Promise<ListeningServer> {
  const { chains, custody, identity, bank: _, ...scope } = ctx
  const chainsOf = chainsByRequest(chains, scope.config)
  const server = await createServer({
    scope,
    endpoints: pageOperations,
    logsRequests: true,
    around,
    userPage: {
      mayFrame: (origin) => isPageOrigin({ ...scope, db: scope.database.reading }, origin),
      readPayment: (token) => showPaymentPage(ctx, token),
    },
    removed: [],
    notBuilt: [],
    widen: (request) => Object.assign(request, { chains: chainsOf(request), custody, identity }),
    readUser: (request, token) => requireTokenUser(request as IdentityCtx, token),
    readSession: (request, token) => requireSession(request as IdentityCtx, token),
  })
  const listener = await listen(server, pageAddress(scope.config))
  scope.config.challengeUrl ??= listener.url
  return listener
}

/** Starts the listener of a worker: the probes and the metrics of the API, under its rules, and nothing else. */
export const startProbes = (ctx: EngineCtx, address: ListenAddress): Promise<ListeningServer> =>
  startPart(ctx, address, probes)

/** Starts the listener of an attester: what it signs, and the probes. */
export const startAttester = (ctx: EngineCtx): Promise<ListeningServer> =>
  startPart(ctx, apiAddress(ctx.config), [...attesterEndpoints, ...probes])

async function startPart(
  ctx: EngineCtx,
  address: ListenAddress,
  operations: readonly Endpoint<never>[],
): Promise<ListeningServer> {
  const { chains, custody, identity, bank: _, ...scope } = ctx
  const server = await createServer({
    scope,
    endpoints: operations,
    removed: [],
    notBuilt: [],
    widen: (request) => Object.assign(request, { chains, custody, identity }),
  })
  return listen(server, address)
}

async function listen(server: FastifyInstance, address: ListenAddress): Promise<ListeningServer> {
  const { host, scheme } = address
  await server.listen({ host, port: address.port }).catch(explainListen(address))
  const { port } = server.server.address() as AddressInfo
  const stop = async () => {
    // Running requests may end; an idle connection must not delay the stop.
    const timer = setTimeout(() => server.server.closeAllConnections(), drainMs)
    await server.close().finally(() => clearTimeout(timer))
  }
  return { url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`, stop }
}

/** Reason to refuse API requests while the host clock is off. Engines go on in database time: their work is already due. */
const clockTrouble = ({ hostOffMs }: Clock): string | undefined =>
  Math.abs(hostOffMs?.() ?? 0) > hostOffMaxMs
    ? 'The clock of this server is wrong, and it serves no requests until that is corrected: try again later.'
    : undefined

const explainRootKey = (error: Error): never => {
  if (!(error instanceof SealBroken)) throw error
  throw new Error(
    `the root key does not decrypt the keys in the database (${error.message}): use the one that encrypted them, in BEZANT_ROOT_KEY or in root.key of the data directory`,
    { cause: error },
  )
}
