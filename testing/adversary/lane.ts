import { randomUUID } from 'node:crypto'
import { openContext, startApi } from '#context'
import { readConfig } from '#runtime/config'
import { sandboxEntity, sandboxEntitySecret, sandboxKeyId, sandboxKeySecret } from '#sandbox/credentials'
import { startTestChains, type TestChain } from '../chain.ts'
import { cloneOf } from '../database-clone.ts'
import { testLog } from '../log.ts'
import { testRootKey } from '../template.ts'
import { type Tenant, tenantOf } from '../tenant.ts'
import { walletCount } from './schedule.ts'

export const blockchain = 'BASE-SEPOLIA'

export type PlannedWallet = { id: string; address: string }

/** The start of all runs: a database that contains the wallets and has no open connections. */
export type Ground = {
  runServer: string
  template: string
  wallets: PlannedWallet[]
  /** The public key that entity secrets are encrypted with. */
  publicKey: string
  drop(): Promise<void>
}

const account = {
  entityId: sandboxEntity.id,
  apiKey: `TEST_API_KEY:${sandboxKeyId}:${sandboxKeySecret}`,
  entitySecret: sandboxEntitySecret,
}

export const tenantAt = (url: string): Tenant => tenantOf(url, account)

/** Creates the wallets once, through the API, without any chain. */
export async function layGround(runServer: string): Promise<Ground> {
  const { name, connection, drop } = await cloneOf(runServer, 'seeded')
  const { chains, stop } = await startTestChains({ blockchains: [blockchain] })
  const context = await openContext({
    config: readConfig({ port: 0, databaseConnectionsMax: 4 }, {}),
    log: testLog(),
    connection,
    rootKey: testRootKey,
    nodes: [{ blockchain, rpcUrl: chains[0]!.rpcUrl, local: true }],
  })
  const api = await startApi(context.ctx)
  try {
    const tenant = tenantAt(api.url)
    const { publicKey } = await ask(tenant, 'GET', '/v1/w3s/config/entity/publicKey')
    const post = async (path: string, body: object) =>
      ask(tenant, 'POST', path, {
        idempotencyKey: randomUUID(),
        entitySecretCiphertext: await tenant.sealSecret(),
        ...body,
      })
    const { walletSet } = await post('/v1/w3s/developer/walletSets', { name: 'Adversary' })
    const { wallets } = await post('/v1/w3s/developer/wallets', {
      walletSetId: walletSet.id,
      blockchains: [blockchain],
      count: walletCount,
    })
    return { runServer, template: name, wallets, publicKey, drop }
  } finally {
    await api.stop()
    await context.close()
    await stop()
  }
}

async function ask(tenant: Tenant, method: string, path: string, body?: object) {
  const answer = await tenant.http(method, path, body && { body })
  if (answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body.data
}

/** The node of one run. */
export type Lane = {
  chain: TestChain
  /** Mines on a timer, or each transaction at once when undefined, until the next call. */
  mineEvery(blockTimeMs: number | undefined): Promise<void>
  stop(): Promise<void>
}

const funds = { native: 100n * 10n ** 18n, usdc: 1_000n * 10n ** 6n }

/** Number of blocks above the funding, so that no reorg of a run reaches it. */
const blocksAbove = 4

/** Starts a separate node, funds the wallets on it, and mines nothing until requested. */
export async function openLane({ wallets }: Ground): Promise<Lane> {
  const { chains, stop } = await startTestChains({ blockchains: [blockchain] })
  const chain = chains[0]!
  let timer: NodeJS.Timeout | undefined
  const mineEvery = async (blockTimeMs: number | undefined) => {
    clearInterval(timer)
    await chain.setAutomine(blockTimeMs === undefined)
    if (blockTimeMs === undefined) return
    let isMining = false
    timer = setInterval(() => {
      if (isMining) return
      isMining = true
      chain
        .rpc('evm_mine')
        .catch(() => undefined)
        .finally(() => {
          isMining = false
        })
    }, blockTimeMs)
  }
  // The first also mints the tokens that all are paid from; the others fit into one block, which is less to follow.
  for (const [index, { address }] of wallets.entries()) {
    await chain.send(address, funds.usdc, 'USDC')
    if (index === 0) await chain.setAutomine(false)
    await chain.send(address, funds.native)
  }
  await chain.mine(blocksAbove)
  return {
    chain,
    mineEvery,
    stop: async () => {
      clearInterval(timer)
      await stop()
    },
  }
}
