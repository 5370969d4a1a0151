import { randomUUID } from 'node:crypto'
import type { Blockchain } from '#chains/blockchains'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import { solDevnet } from '#chains/networks/sol-devnet'
import { openContext, startApi } from '#context'
import { readConfig } from '#runtime/config'
import { sandboxApiKey, sandboxEntity, sandboxEntitySecret } from '#sandbox/credentials'
import { cloneOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { openLocalAptos } from '#testing/nodes/local-aptos'
import { openLocalSolana } from '#testing/nodes/local-solana'
import { startTestChains } from '#testing/platform/chain'
import { testLog } from '#testing/platform/log'
import { type Tenant, tenantOf } from '#testing/platform/tenant'
import { walletCount } from './schedule.ts'

export const blockchain = 'BASE-SEPOLIA'

export type PlannedWallet = {
  id: string
  address: string
  accountType: 'EOA' | 'SCA'
  blockchain: Blockchain
}

/** The database that each run gets a copy of: it contains the wallets and has no open connections. */
export type SeededDatabase = {
  runServer: string
  template: string
  wallets: PlannedWallet[]
  /** The public key that entity secrets are encrypted with. */
  publicKey: string
  drop(): Promise<void>
}

const account = {
  entityId: sandboxEntity.id,
  apiKey: sandboxApiKey,
  entitySecret: sandboxEntitySecret,
}

export const tenantAt = (url: string): Tenant => tenantOf(url, account)

/** Creates the wallets once, through the API. */
export async function seedDatabase(runServer: string): Promise<SeededDatabase> {
  const { name, connection, drop } = await cloneOf(runServer, 'seeded')
  const { chains, stop } = await startTestChains({ blockchains: [blockchain] })
  const [aptos, solana] = await Promise.all([openLocalAptos(), openLocalSolana()])
  const context = await openContext({
    config: readConfig({ port: 0, databaseConnectionsMax: 4 }, {}),
    log: testLog(),
    connection,
    rootKey: testRootKey,
    nodes: [{ blockchain, rpcUrl: chains[0]!.rpcUrl, local: true }, aptos.connected, solana.connected],
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
    const walletsOf = async (
      on: Blockchain,
      accountType: 'EOA' | 'SCA',
      count: number,
    ): Promise<PlannedWallet[]> => {
      const body = { walletSetId: walletSet.id, blockchains: [on], count, accountType }
      return (await post('/v1/w3s/developer/wallets', body)).wallets
    }
    const wallets = [
      ...(await walletsOf(blockchain, 'EOA', walletCount)),
      ...(await walletsOf(blockchain, 'SCA', 1)),
      ...(await walletsOf(aptosTestnet.blockchain, 'EOA', 1)),
      ...(await walletsOf(solDevnet.blockchain, 'EOA', 1)),
    ]
    return { runServer, template: name, wallets, publicKey, drop }
  } finally {
    await api.stop()
    await context.close()
    await stop()
    await Promise.all([aptos.node.close(), solana.node.close()])
  }
}

async function ask(tenant: Tenant, method: string, path: string, body?: object) {
  const answer = await tenant.http(method, path, body && { body })
  if (answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body.data
}
