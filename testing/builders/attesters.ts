/** Attesters beside the platform of a harness: each has a database, a root key, a message key and connections of its own. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFunctionData } from 'viem'
import { messageTransmitterV2Abi } from '#chains/evm/crosschain/artifacts/message-transmitter-v2'
import { type ContextInput, openContext, startAttester, startAttesterEngines } from '#context'
import { createAttestationKey } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import { hexOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { AttesterSetting } from '#runtime/attester-settings'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { type Config, readConfig } from '#runtime/config'
import type { Connection, Database } from '#runtime/db/db'
import { issuerAccount } from '#sandbox/constants'
import { cloneDatabase } from '#testing/databases/database'
import type { TestChain } from '#testing/platform/chain'
import type { Harness } from '#testing/platform/harness'
import { testLog } from '#testing/platform/log'
import { type HttpAnswer, httpAs } from '#testing/platform/tenant'
import { type Hex, messageTransmitter } from './burns.ts'

export type TestAttester = {
  ctx: EngineCtx
  database: Database
  connection: Connection
  rootKey: Buffer
  dataDir: string
  address: Hex
  /** As the platform is configured with it. */
  setting: AttesterSetting & { service: { url: string; token: string } }
  /** Makes a further key; returns the configuration with it. */
  newKey(): Promise<TestAttester['setting'] & { address: Hex }>
  /** Asks for a signature, by default with the token of the platform. */
  ask(body: object, token?: string): Promise<HttpAnswer>
  /** Serves and follows the chains; at the same address as before. */
  start(): Promise<void>
  stop(): Promise<void>
  close(): Promise<void>
}

export type AttesterOptions = {
  config?: Partial<Config>
  nodes: ContextInput['nodes']
  /** Whether it serves at once. Default: true. */
  starts?: boolean
}

/** Opens an attester and starts it; always `close` it. */
export async function openAttester({ config, nodes, starts = true }: AttesterOptions): Promise<TestAttester> {
  const clone = await cloneDatabase('empty')
  const rootKey = randomBytes(32)
  const dataDir = await mkdtemp(join(tmpdir(), 'bezant-attester-'))
  const settings = {
    port: 0,
    logLevel: 'error',
    databaseConnectionsMax: 5,
    dataDir,
    crosschainEnvironment: 'TEST' as const,
    ...config,
  }
  const { ctx, close } = await openContext({
    config: readConfig(settings, {}),
    log: testLog(),
    connection: clone.connection,
    rootKey,
    nodes,
  })
  const { database } = ctx
  const newKey = async () => {
    const { address, publicKey } = await createAttestationKey({ ...ctx, db: database }, 'message')
    return { address: address as Hex, publicKey: hexOf(publicKey) }
  }
  const { address, publicKey } = await newKey()
  const token = await database.tx(async (tx) => {
    const [nowMs, entityId] = [ctx.clock.nowMs(), newId(ctx.clock.nowMs())]
    await insertEntity(tx, { id: entityId, environment: 'TEST', name: 'Platform', nowMs })
    return (await insertApiKey(tx, { entityId, environment: 'TEST', scopes: ['api'], nowMs })).text
  })
  let running: { stop(): Promise<void> }[] = []
  const stop = async () => void (await Promise.all(running.splice(0).map((each) => each.stop())))
  const start = async () => {
    const server = await startAttester(ctx)
    running = [server, startAttesterEngines(ctx)]
    ctx.config.port = Number(new URL(server.url).port)
  }
  await start()
  const url = `http://127.0.0.1:${ctx.config.port}`
  if (!starts) await stop()
  const service = { url, token }
  return {
    ctx,
    database,
    connection: clone.connection,
    rootKey,
    dataDir,
    address,
    setting: { publicKey, service },
    newKey: async () => ({ ...(await newKey()), service }),
    ask: (body, asked = token) => httpAs(url, asked)('POST', '/signatures', { body }),
    start,
    stop,
    close: async () => {
      await stop()
      await close()
      await clone.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Calls the transmitter of a chain as its attester manager. */
export async function manageAttesters(
  chain: TestChain,
  functionName: 'enableAttester' | 'disableAttester' | 'setSignatureThreshold',
  value: Hex | bigint,
): Promise<void> {
  const from = issuerAccount.address
  await chain.rpc('anvil_impersonateAccount', [from])
  const call = { abi: messageTransmitterV2Abi, functionName, args: [value] }
  const data = encodeFunctionData(call as Parameters<typeof encodeFunctionData>[0])
  const hash = await chain.rpc<Hex>('eth_sendTransaction', [{ from, to: messageTransmitter, data }])
  const receipt = await chain.rpc<{ status: string }>('eth_getTransactionReceipt', [hash])
  if (receipt.status !== '0x1') throw new Error(`${functionName} was reverted on ${chain.blockchain}`)
}

/** Lets the platform of a harness ask these attesters, two of all have to sign: in its settings and on its chains. */
export async function setAttesters(harness: Harness, attesters: readonly TestAttester[]): Promise<void> {
  for (const chain of harness.chains) {
    for (const { address } of attesters) await manageAttesters(chain, 'enableAttester', address)
    await manageAttesters(chain, 'setSignatureThreshold', 2n)
  }
  await restartWith(harness, { attesters: attesters.map(({ setting }) => setting), attestationThreshold: 2 })
}

/** Starts the engines of the platform with other settings. */
export async function restartWith(harness: Harness, config: Partial<Config>): Promise<void> {
  await harness.stopEngines()
  Object.assign(harness.ctx.config, config)
  harness.startEngines()
}
