import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Network } from '#chains/networks/index'
import { makeTables, openContext, startApi, startPage } from '#context'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead } from '#engines/indexer/index'
import type { Config } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import { lockDirectory } from '#runtime/directory-lock/index'
import { apiAddress, pageAddress, requirePort } from '#runtime/http/port'
import type { RequestGuard } from '#runtime/http/server'
import { raiseAlarm } from '#runtime/log/alarms'
import type { Log } from '#runtime/log/log'
import { callerOf } from '#runtime/outbound/call'
import { findRootKey, makeRootKey, readRootKey, removeRootKey, rootKeyMissing } from '#runtime/root-key'
import { bankOf } from './bank.ts'
import { openCatchers } from './catcher/index.ts'
import { chainDirectory, type LocalChain, type LocalChains, startLocalChains } from './chains/index.ts'
import { ciphertextEndpoint } from './ciphertext-endpoint.ts'
import type { SandboxCredentials } from './credentials.ts'
import { refusal, type SandboxAnswer, sandboxEndpoints } from './endpoints.ts'
import { openSandboxEngines } from './engines.ts'
import { openFaucet } from './faucet/faucet.ts'
import { causesOf, openFaults, platformPath, requestFaults, webhookFaults } from './faults/index.ts'
import { type LabInput, openLab } from './lab.ts'
import { publishSandbox, removePublishedSandbox } from './nodes-file.ts'
import { credentialsOf } from './own-credentials.ts'
import { requireOwnDatabase } from './own-database.ts'
import { hasCluster, startEmbeddedPostgres } from './postgres/index.ts'
import { requireOwnPage } from './require-own-page.ts'
import { seedFresh, seedSandbox } from './seed.ts'
import { dropSnapshots, openSnapshotPlace, settleSnapshots, snapshotsDirectory } from './snapshots/index.ts'
import { requireTestNetwork } from './test-networks.ts'
import { certificateFile, openServerTls, removeServerTls } from './tls.ts'

export type SandboxOptions = {
  config: Config
  log: Log
  ephemeral: boolean
  /** A prepared database on a server that outlives this sandbox; otherwise it starts a server, or uses that of `DATABASE_URL`. */
  database?: Connection | undefined
  /** API names of the chains to start. */
  blockchains: readonly string[]
  blockTimeMs?: number | undefined
  gasLimit?: bigint | undefined
  /** Whether the API and the page of users answer https, with a certificate of their own. */
  tls?: boolean
  /** Origins whose pages may use the operations of the sandbox, as its own pages do. */
  allowedOrigins?: readonly string[] | undefined
  /** The text of a plan of faults to begin with. */
  faults?: string | undefined
  /** Whether the network may reach it, which takes credentials of its own. */
  isExposed: boolean
  /** Reports each part that is ready. */
  onReady?: (part: string) => void
  /** Aborts the start: the parts started so far are stopped, and the start fails. */
  interruption: AbortSignal
}

export type Sandbox = {
  answer: SandboxAnswer
  ctx: EngineCtx
  chains: readonly LocalChain[]
  /** Resolves with the reason when an essential part of the sandbox has ended unexpectedly. */
  broken: Promise<string>
  stop(): Promise<void>
}

/** Starts the whole platform: database, chains, engines and API. Stops the started parts again when one fails. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const undo: (() => Promise<unknown>)[] = []
  const stop = onceOnly(async () => {
    for (const step of undo.reverse())
      await step().catch((error) => options.log.error({ err: error }, 'stopping'))
  })
  try {
    return await startParts(options, undo, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function startParts(
  { config, log, ephemeral, interruption, isExposed, onReady, ...options }: SandboxOptions,
  undo: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<Sandbox> {
  const { dataDir } = config
  const chosen = options.blockchains.map((blockchain) => requireTestNetwork(blockchain, '--chains'))
  await requirePort(apiAddress(config))
  await requirePort(pageAddress(config))
  const {
    rootKey: foundKey,
    openStore,
    dropKey,
    isKnown,
  } = options.database ? await storeIn(options.database, config) : await prepareStore(config, ephemeral, log)
  if (ephemeral) undo.push(dropKey)
  const credentials = await credentialsOf({ dataDir, isExposed, ephemeral, isKnown })
  interruption.throwIfAborted()
  const store = await openStore()
  undo.push(store.stop)
  const { connection } = store
  onReady?.('PostgreSQL')
  if (ephemeral) undo.push(await dropKeptBeside(config))
  const place = openSnapshotPlace({ config, connection, isDurable: !ephemeral })
  if (options.database) undo.push(() => dropSnapshots(place))
  const rootKey = (await settleSnapshots(place)) ?? foundKey
  const begun = chosen.filter((network) => ephemeral || !existsSync(chainDirectory(dataDir, network)))
  if (options.tls) config.tls = await openServerTls(dataDir, config.host, Date.now())
  if (options.tls && ephemeral) undo.push(() => removeServerTls(dataDir))
  interruption.throwIfAborted()
  const kept = { dataDir, ephemeral, journaled: credentials.arePublic }
  const starting = startLocalChains({ networks: chosen, log, ...kept, ...options })
  undo.push(async () => (await starting.catch(() => undefined))?.stop())
  const [local] = await Promise.all([starting, makeTables({ connection, log })])
  onReady?.('the nodes of the chains')
  onReady?.('the tables')
  const nodes = nodesOf(local)
  interruption.throwIfAborted()
  const opening = { config, log, rootKey, connection, nodes, bank: bankOf(config), hasTables: true }
  const context = await openContext(opening)
  undo.push(context.close)
  const { ctx } = context
  await reportBegunAnew(ctx, begun)
  interruption.throwIfAborted()
  await seedSandbox(ctx, credentials)
  interruption.throwIfAborted()
  const answer = answerOf(credentials, local, options.tls ? certificateFile(dataDir) : undefined)
  const seed = (fresh: EngineCtx) => seedFresh(fresh, credentials)
  const faults = openFaults({
    file: ephemeral ? undefined : join(dataDir, 'faults.json'),
    text: options.faults,
    nowMs: () => ctx.clock.nowMs(),
    blockchains: options.blockchains,
  })
  const own = { faults, place, rootKey, renewKeys: context.renewKeys, seed, chains: local.chains, answer }
  const parts = openOwnParts(ctx, own, undo)
  undo.push(parts.engines.stop)
  const guard = requireOwnPage(options.allowedOrigins ?? [])
  const serving = { ...parts, guard, answer, isOpen: credentials.arePublic }
  await startEnginesAndServers(ctx, serving, undo)
  onReady?.('the engines')
  interruption.throwIfAborted()
  await publishSandbox(dataDir, { url: answer.url, nodes })
  undo.push(() => removePublishedSandbox(dataDir))
  return { answer, ctx, chains: local.chains, broken: store.broken, stop }
}

type OwnInput = Pick<LabInput, 'faults' | 'place' | 'rootKey' | 'renewKeys' | 'seed' | 'chains'> & {
  answer: SandboxAnswer
}

/** Opens what a sandbox has beyond a server in production. */
function openOwnParts(ctx: EngineCtx, { answer, ...input }: OwnInput, undo: (() => Promise<unknown>)[]) {
  const faucet = openFaucet(ctx, input.chains)
  undo.push(faucet.stop)
  const engines = openSandboxEngines(ctx, faucet, webhookFaults(input.faults, callerOf(ctx.config)))
  const catchers = openCatchers(ctx, () => answer.url)
  const localUrl = () => answer.url
  const lab = openLab({ ...input, ctx, faucet, engines, localUrl, saved: catchers.saved })
  undo.push(lab.stop)
  const { faults } = input
  return { faucet, engines, catchers, lab, intercept: requestFaults(faults), causesOf: causesOf(faults) }
}

type ServersInput = ReturnType<typeof openOwnParts> & {
  guard: RequestGuard
  answer: SandboxAnswer
  /** Whether the operations of the sandbox are open: to the network they are not. */
  isOpen: boolean
}

/** Both end before either fails: what the servers have opened is then known, and closed. */
async function startEnginesAndServers(
  ctx: EngineCtx,
  serving: ServersInput,
  undo: (() => Promise<unknown>)[],
): Promise<void> {
  const outcomes = await Promise.allSettled([serving.engines.start(), startServers(ctx, serving, undo)])
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

/** Starts the API and the page of users, and completes the answer with their addresses. */
async function startServers(
  ctx: EngineCtx,
  { faucet, catchers, lab, intercept, causesOf, guard, answer, isOpen }: ServersInput,
  undo: (() => Promise<unknown>)[],
): Promise<void> {
  const { mailer, catches } = catchers
  const { around, restores } = lab
  const own = [...sandboxEndpoints(() => answer), ciphertextEndpoint, ...catchers.endpoints, ...lab.endpoints]
  const { apiKey } = answer
  const parts = isOpen
    ? { endpoints: own, catches, guard, intercept, causesOf, restores, refusal, apiKey }
    : { endpoints: [] }
  const page = await startPage(ctx, around)
  undo.push(page.stop)
  // The last one to listen: GET /sandbox answers with all addresses from the first request on.
  const api = await startApi(ctx, { faucet, mailer, around, ...parts })
  undo.push(api.stop, catchers.stop)
  const addresses = { url: api.url, console: `${api.url}/console`, docs: `${api.url}/docs` }
  Object.assign(answer, { ...addresses, challengeUrl: ctx.config.challengeUrl })
}

/** The nodes as the platform asks them, by a path of its own: rules of faults tell its calls from those of others. */
const nodesOf = ({ chains }: LocalChains) =>
  chains.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl: platformUrl(rpcUrl), local: true }))

function platformUrl(rpcUrl: string): string {
  const { origin, pathname } = new URL(rpcUrl)
  return `${origin}${platformPath}${pathname.replace(/\/$/, '')}`
}

/** The answer without its addresses, which are known once the servers listen. */
function answerOf(
  { apiKey, clientKey, entitySecret }: SandboxCredentials,
  { chains }: LocalChains,
  certificate: string | undefined,
): SandboxAnswer {
  return {
    url: '',
    apiKey,
    clientKey,
    entitySecret,
    console: '',
    docs: '',
    challengeUrl: '',
    ...(certificate !== undefined && { certificate }),
    chains: chains.map(({ blockchain, chainId, rpcUrl, tokens, isSimulated }) => ({
      blockchain,
      chainId,
      rpcUrl,
      tokens,
      ...(isSimulated && { isSimulated }),
    })),
  }
}

/** Raises an alarm for each new chain that replaces one of the same name in the database, whose blocks will be reverted. */
async function reportBegunAnew(
  { config, database, log }: EngineCtx,
  begun: readonly Network[],
): Promise<void> {
  for (const network of begun) {
    const { blockchain } = network
    if (await canonicalHead(database, blockchain))
      raiseAlarm(
        log,
        'chain-begun-anew',
        { blockchain, directory: chainDirectory(config.dataDir, network) },
        `${blockchain} begins anew, because ${chainDirectory(config.dataDir, network)} is missing: what the books had of it is taken back; to have it again, stop, put the directory back and start`,
      )
  }
}

/**
 * Uses temporary directories beside an ephemeral database, which needs no recovery: for journals, counters of guesses and
 * snapshots. Returns a function that removes them.
 */
async function dropKeptBeside(config: Config): Promise<() => Promise<void>> {
  const [journalDir, guessDir] = ['journals', 'guesses'].map((name) =>
    join(config.dataDir, `ephemeral-${name}`),
  ) as [string, string]
  const drop = async () => {
    for (const path of [journalDir, guessDir, snapshotsDirectory(config, false)])
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
  await drop()
  Object.assign(config, { journalDir, guessDir })
  return drop
}

type Store = { connection: Connection; broken: Promise<string>; stop: () => Promise<void> }

type PreparedStore = {
  rootKey: Buffer
  /** Whether the database exists already. */
  isKnown: boolean
  openStore(): Promise<Store>
  dropKey(): Promise<void>
}

/**
 * Checks the existing data before anything is written: refuses another program's database, and one whose root key is
 * missing. A new root key is on disk before the database that it encrypts is initialized.
 */
async function prepareStore(config: Config, ephemeral: boolean, log: Log): Promise<PreparedStore> {
  const { dataDir } = config
  const databaseUrl = unpooledUrl(config)
  const isNewDirectory = !existsSync(dataDir)
  const own = databaseUrl === undefined ? undefined : await requireOwnDatabase({ url: databaseUrl }, dataDir)
  const isKnown = own?.isKnown ?? hasCluster(dataDir)
  const found = await findRootKey(config)
  if (!found && isKnown)
    throw rootKeyMissing(config, own ? 'the database of DATABASE_URL' : 'the database beside it')
  const rootKey = found ?? (await makeRootKey(config))
  return {
    rootKey,
    isKnown,
    openStore: async () => {
      const store = await openStoreOf(config, ephemeral, log)
      if (isNewDirectory && !ephemeral) await hideFromGit(dataDir)
      await own?.claim()
      return store
    },
    dropKey: async () => {
      if (!found) await removeRootKey(config)
    },
  }
}

/** Sandboxes copy databases, which a pooler is no help with. */
const unpooledUrl = ({ databaseUrl, directDatabaseUrl }: Config) =>
  databaseUrl && (directDatabaseUrl ?? databaseUrl)

/** Hides the directory from git: it has the root key, and lies in the folder of a project. */
const hideFromGit = (dataDir: string) => writeFile(join(dataDir, '.gitignore'), '*\n')

/** The store of a sandbox on a database of its own that is prepared already: its server is started and stopped elsewhere. */
async function storeIn(connection: Connection, config: Config): Promise<PreparedStore> {
  const openStore = async () => {
    const { release } = await lockDirectory(config.dataDir)
    return { connection, broken: new Promise<string>(() => undefined), stop: release }
  }
  return { rootKey: await readRootKey(config), isKnown: true, openStore, dropKey: async () => undefined }
}

/** Opens the embedded server, or the one of `DATABASE_URL`; either way locks the data directory for this process. */
async function openStoreOf(config: Config, ephemeral: boolean, log: Log): Promise<Store> {
  const { dataDir } = config
  const databaseUrl = unpooledUrl(config)
  if (databaseUrl !== undefined) {
    const lock = await lockDirectory(dataDir)
    return { connection: { url: databaseUrl }, broken: new Promise(() => undefined), stop: lock.release }
  }
  const postgres = await startEmbeddedPostgres({ dataDir, ephemeral, log })
  const broken = postgres.exited.then(({ expected }) =>
    expected
      ? new Promise<string>(() => undefined)
      : 'PostgreSQL ended; start the sandbox again, nothing was lost',
  )
  return { connection: postgres.connection, broken, stop: postgres.stop }
}

function onceOnly(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => (running ??= work())
}
