import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Network, networkOf, networks } from '#chains/networks/index'
import { openContext, startApi, startPage } from '#context'
import { seedSandboxEntity } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead } from '#engines/indexer/index'
import { allowRebalancingInSandbox } from '#engines/treasury/rebalancing/index'
import { suggest } from '#lib/suggest'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import type { Config } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import { lockDirectory } from '#runtime/directory-lock/index'
import { apiAddress, pageAddress, requirePort } from '#runtime/http/port'
import { raiseAlarm } from '#runtime/log/alarms'
import type { Log } from '#runtime/log/log'
import { callerOf } from '#runtime/outbound/call'
import { findRootKey, makeRootKey, removeRootKey, rootKeyMissing } from '#runtime/root-key'
import { seedAttestationKeys } from './attestation-keys.ts'
import { openCatchers } from './catcher/index.ts'
import { chainDirectory, type LocalChain, type LocalChains, startLocalChains } from './chains/index.ts'
import { ciphertextEndpoint } from './ciphertext-endpoint.ts'
import { type SandboxCredentials, sandboxEntity } from './credentials.ts'
import { refusal, type SandboxAnswer, sandboxEndpoints } from './endpoints.ts'
import { startSandboxEngines } from './engines.ts'
import { openFaucet } from './faucet/faucet.ts'
import { openFaults, platformPath, requestFaults, webhookFaults } from './faults/index.ts'
import { openLab } from './lab.ts'
import { publishNodes, removePublishedNodes } from './nodes-file.ts'
import { credentialsOf } from './own-credentials.ts'
import { requireOwnDatabase } from './own-database.ts'
import { hasCluster, startEmbeddedPostgres } from './postgres/index.ts'
import { requireOwnPage } from './require-own-page.ts'
import { certificateFile, openServerTls, removeServerTls } from './tls.ts'

export type SandboxOptions = {
  config: Config
  log: Log
  ephemeral: boolean
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

/** The chains that start when none are named: every test network. */
export const defaultBlockchains = networks
  .filter(({ environment }) => environment === 'TEST')
  .map(({ blockchain }) => blockchain)

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
  const chosen = options.blockchains.map(requireTestNetwork)
  await requirePort(apiAddress(config))
  await requirePort(pageAddress(config))
  const { rootKey, openStore, dropKey, isKnown } = await prepareStore(config, ephemeral, log)
  if (ephemeral) undo.push(dropKey)
  const credentials = await credentialsOf({ dataDir, isExposed, ephemeral, isKnown })
  interruption.throwIfAborted()
  const store = await openStore()
  undo.push(store.stop)
  onReady?.('PostgreSQL')
  if (ephemeral) undo.push(await dropJournals(config))
  const begun = chosen.filter((network) => ephemeral || !existsSync(chainDirectory(dataDir, network)))
  if (options.tls) config.tls = await openServerTls(dataDir, config.host, Date.now())
  if (options.tls && ephemeral) undo.push(() => removeServerTls(dataDir))
  interruption.throwIfAborted()
  const local: LocalChains = await startLocalChains({ networks: chosen, dataDir, ephemeral, log, ...options })
  undo.push(() => local.stop())
  onReady?.('the nodes of the chains')
  const nodes = nodesOf(local)
  interruption.throwIfAborted()
  const context = await openContext({ config, log, rootKey, connection: store.connection, nodes })
  undo.push(context.close)
  onReady?.('the tables')
  const { ctx } = context
  await reportBegunAnew(ctx, begun)
  interruption.throwIfAborted()
  await seedSandbox(ctx, credentials)
  const faucet = openFaucet(ctx)
  undo.push(faucet.stop)
  interruption.throwIfAborted()
  const faults = openFaults(ephemeral ? undefined : join(dataDir, 'faults.json'), options.faults)
  const engines = startSandboxEngines(ctx, faucet, webhookFaults(faults, callerOf(config)))
  undo.push(engines.stop)
  await engines.started
  onReady?.('the engines')
  const answer = answerOf(credentials, local, options.tls ? certificateFile(dataDir) : undefined)
  const { apiKey } = answer
  interruption.throwIfAborted()
  const { mailer, catches, ...catchers } = openCatchers(ctx, () => answer.url)
  const lab = openLab({ ctx, chains: local.chains, faucet, faults })
  undo.push(lab.stop)
  const own = [...sandboxEndpoints(() => answer), ciphertextEndpoint, ...catchers.endpoints]
  // Of another sandbox than one with public credentials, they would be open to the network.
  const guard = requireOwnPage(options.allowedOrigins ?? [])
  const parts = credentials.arePublic
    ? {
        endpoints: [...own, ...lab.endpoints],
        catches,
        guard,
        intercept: requestFaults(faults),
        refusal,
        apiKey,
      }
    : { endpoints: [] }
  const api = await startApi(ctx, { faucet, mailer, ...parts })
  undo.push(api.stop, catchers.stop)
  const page = await startPage(ctx)
  undo.push(page.stop)
  const addresses = { url: api.url, console: `${api.url}/console`, docs: `${api.url}/docs` }
  Object.assign(answer, { ...addresses, challengeUrl: config.challengeUrl })
  await publishNodes(dataDir, nodes)
  undo.push(() => removePublishedNodes(dataDir))
  return { answer, ctx, chains: local.chains, broken: store.broken, stop }
}

/** The nodes as the platform asks them, by a path of its own: rules of faults tell its calls from those of others. */
const nodesOf = ({ chains }: LocalChains) =>
  chains.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl: `${rpcUrl}${platformPath}`, local: true }))

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
    chains: chains.map(({ blockchain, chainId, rpcUrl, tokens }) => ({
      blockchain,
      chainId,
      rpcUrl,
      tokens,
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

/** Uses temporary journals, since an ephemeral database needs no recovery. Returns a function that removes them. */
async function dropJournals(config: Config): Promise<() => Promise<void>> {
  const journalDir = join(config.dataDir, 'ephemeral-journals')
  const drop = () => rm(journalDir, { recursive: true, force: true })
  await drop()
  config.journalDir = journalDir
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
  const { dataDir, databaseUrl } = config
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
      await own?.claim()
      return store
    },
    dropKey: async () => {
      if (!found) await removeRootKey(config)
    },
  }
}

/** Opens the embedded server, or the one of `DATABASE_URL`; either way locks the data directory for this process. */
async function openStoreOf(config: Config, ephemeral: boolean, log: Log): Promise<Store> {
  const { dataDir, databaseUrl } = config
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

/** Registers the fixed entity, its keys and its entity secret, so that the first request works. */
async function seedSandbox(ctx: EngineCtx, { keys, entitySecret }: SandboxCredentials): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  await ctx.database.tx(async (tx) => {
    await insertEntity(tx, { ...sandboxEntity, nowMs })
    for (const key of keys) await insertApiKey(tx, { ...key, nowMs })
    await allowRebalancingInSandbox(tx, sandboxEntity.id, nowMs)
  })
  await seedSandboxEntity(ctx, { entityId: sandboxEntity.id, secretHex: entitySecret })
  await seedAttestationKeys({ ...ctx, db: ctx.database })
}

/** Returns a network that a sandbox can run; throws for any other. */
export function requireTestNetwork(blockchain: string): Network {
  const network = networkOf(blockchain)
  if (network?.environment === 'TEST') return network
  const remedy = suggest(blockchain, defaultBlockchains) || `: choose from ${defaultBlockchains.join(', ')}`
  throw new Error(`--chains must name test networks, not "${blockchain}"${remedy}`)
}

function onceOnly(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => (running ??= work())
}
