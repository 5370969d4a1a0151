import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Blockchain } from '#chains/blockchains'
import { tokenAddress } from '#chains/network'
import { parseScreenedAddress } from '#chains/screening-chains'
import { addEntry, removeEntry } from '#engines/compliance/lists/index'
import { balancesOf } from '#engines/ledger/index'
import { systemClock } from '#lib/time'
import { type Connection, type Database, openDatabase } from '#runtime/db/db'
import { sandboxApiKey, sandboxEntity, sandboxEntitySecret } from '#sandbox/credentials'
import { dataOf } from '#testing/builders/world'
import { cloneDatabase } from '#testing/databases/database'
import { atomicOf } from '#testing/platform/harness'
import { type HttpAnswer, type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import type { FamilyUnderTest } from './family-under-test.ts'

export type FamilyWallet = { id: string; address: string; blockchain: string; walletSetId: string }

/** The whole program in one process of its own, on a chain of a family, with what its clients do. */
export type FamilyPlatform = ReturnType<typeof platformOf> & { close(): Promise<void> }

const roles = [
  'api',
  'indexer',
  'transactions',
  'tokens',
  'reviews',
  'reconciler',
  'treasury',
  'webhooks',
] as const

export async function openFamilyPlatform(open: () => Promise<FamilyUnderTest>): Promise<FamilyPlatform> {
  const { connection, drop } = await cloneDatabase('seeded')
  const database = openDatabase(connection, 2)
  const family = await open()
  const platform = platformOf(family, connection, database)
  await platform.begin()
  return {
    ...platform,
    close: async () => {
      await platform.kill()
      await family.close()
      await database.close()
      await drop()
    },
  }
}

type Running = { worker: Worker; tenant: Tenant; url: string }

function platformOf(family: FamilyUnderTest, connection: Connection, database: Database) {
  const { network, rpcUrl } = family
  const { blockchain } = network
  let running: Running
  /** Starts a worker, on the database and the journal of those before it. */
  const begin = async (rpcUrls?: readonly string[]) => {
    const worker = await spawnWorker()
    const node = { connection, rpcUrl, rpcUrls, blockchain }
    await worker.open({ ...node, roles, logLevel: 'error', withoutFaucet: true })
    const url = (await worker.start())!
    const credentials = { apiKey: sandboxApiKey, entitySecret: sandboxEntitySecret }
    running = { worker, url, tenant: tenantOf(url, { entityId: sandboxEntity.id, ...credentials }) }
  }
  const kill = async () => {
    running?.worker.signal('SIGKILL')
    await running?.worker.exited
  }
  const http: Tenant['http'] = (...asked) => running.tenant.http(...asked)
  const ask = async (path: string, fields: object, idempotencyKey: string = randomUUID()) => {
    const entitySecretCiphertext = await running.tenant.sealSecret()
    return http('POST', path, { body: { idempotencyKey, entitySecretCiphertext, ...fields } })
  }
  const call = async (method: string, path: string, body?: object) =>
    dataOf(await http(method, path, body && { body }), `${method} ${path}`)
  const post = async (path: string, fields: object) => dataOf(await ask(path, fields), path)
  const read = async (id: string) => (await call('GET', `/v1/w3s/transactions/${id}`)).transaction
  const listing = (address: string) => ({
    list: 'block',
    entry: parseScreenedAddress(blockchain, address)!,
    reason: 'a test',
  })
  const coinsOf = async (address: string) => {
    const balances = await balancesOf(database, sandboxEntity.id, blockchain, [address])
    const native = balances.find(({ tokenId }) => tokenId === network.nativeToken.id)
    return native ?? { postedAtomic: 0n, heldAtomic: 0n }
  }
  const operator = { database, clock: systemClock, actor: 'operator' }
  return {
    family,
    /** Parts of a world: what the builders of pages ask for. */
    call,
    harness: {
      get url() {
        return running.url
      },
    },
    begin,
    kill,
    worker: () => running.worker,
    /** Ends what a test left behind, also one that failed. */
    settle: async () => {
      await family.settle()
      if (running.worker.state() === 'dead') await begin()
    },
    http,
    ask,
    post,
    read,
    reaches: (id: string, state: string) =>
      until(async () => (await read(id)).state === state, `${id} is ${state}`),
    /** The native coins of an address in the books, and those of them that are held. */
    bookedCoins: async (address: string) => (await coinsOf(address)).postedAtomic,
    heldCoins: async (address: string) => (await coinsOf(address)).heldAtomic,
    plenty: family.plentyAtomic,
    /** Adds an address to the blocklist of this server, or takes it off. */
    block: async (address: string) => void (await addEntry(operator, listing(address))),
    unblock: async (address: string) => void (await removeEntry(operator, listing(address))),
    ...actionsOf(family, { call, post, ask }),
  }
}

type Client = {
  call(method: string, path: string, body?: object): Promise<ReturnType<typeof dataOf>>
  post(path: string, fields: object): Promise<ReturnType<typeof dataOf>>
  ask(path: string, fields: object, idempotencyKey?: string): Promise<HttpAnswer>
}

export type TransferWish = { from: FamilyWallet; to: string; amount: string; tokenId?: string }

/** What a developer does with wallets of the family. */
function actionsOf(family: FamilyUnderTest, { call, post, ask }: Client) {
  const { network, plentyAtomic } = family
  const { blockchain, nativeToken } = network
  const usdc = usdcOf(family)
  let walletSet: Promise<{ id: string }> | undefined
  const newWallets = async (count: number, on: Blockchain = blockchain): Promise<FamilyWallet[]> => {
    walletSet ??= post('/v1/w3s/developer/walletSets', { name: 'A family' }).then((made) => made.walletSet)
    const asked = { walletSetId: (await walletSet).id, blockchains: [on], count }
    return (await post('/v1/w3s/developer/wallets', asked)).wallets
  }
  const balances = async (wallet: { id: string }): Promise<Record<string, string>> => {
    const { tokenBalances } = await call('GET', `/v1/w3s/wallets/${wallet.id}/balances`)
    const shown = tokenBalances as { token: { id: string }; amount: string }[]
    return Object.fromEntries(shown.map(({ token, amount }) => [token.id, amount]))
  }
  const bodyOf = ({ from, to, amount, tokenId = usdc.id }: TransferWish) => ({
    walletId: from.id,
    tokenId,
    amounts: [amount],
    destinationAddress: to,
    feeLevel: 'MEDIUM',
  })
  const asking = (wish: TransferWish, idempotencyKey?: string) =>
    ask('/v1/w3s/developer/transactions/transfer', bodyOf(wish), idempotencyKey)
  return {
    usdc,
    native: nativeToken,
    newWallets,
    balances,
    bodyOf,
    /** A wallet with 1,000 USDC and coins for its fees. */
    fundedWallet: async (): Promise<FamilyWallet> => {
      const [wallet] = await newWallets(1)
      await family.send(wallet!.address, plentyAtomic)
      await family.send(wallet!.address, 1_000_000_000n, usdc.address)
      await until(async () => {
        const has = await balances(wallet!)
        return has[usdc.id] === '1000' && has[nativeToken.id] !== undefined
      }, 'the coins are booked')
      return wallet!
    },
    askTransfer: asking,
    transfer: async (wish: TransferWish): Promise<string> => dataOf(await asking(wish), 'a transfer').id,
    /** Requests to accelerate or to cancel a transfer. */
    control: async (id: string, verb: 'accelerate' | 'cancel') =>
      void (await post(`/v1/w3s/developer/transactions/${id}/${verb}`, {})),
    /** Checks that the chain paid this, once, in a transaction of the wallet that succeeded. */
    async expectPaid(id: string, { from, to, amount, tokenId = usdc.id }: TransferWish): Promise<void> {
      const token = tokenId === usdc.id ? usdc : { ...nativeToken, address: undefined }
      const { txHash } = (await call('GET', `/v1/w3s/transactions/${id}`)).transaction
      expect(await family.transactionOf(txHash)).toEqual({ sender: from.address, success: true })
      expect(await family.balanceOf(to, token.address)).toBe(atomicOf(amount, token.decimals))
    },
  }
}

/** USDC as the network lists it, at the address in stored form. */
function usdcOf({ network }: FamilyUnderTest) {
  const listed = network.tokens.find(({ symbol }) => symbol === 'USDC')!
  return { ...listed, address: tokenAddress(listed) }
}
