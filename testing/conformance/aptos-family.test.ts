/** A program that connects to Aptos: its transactions expire, and are made again when they are proven dead. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOfBytes } from '#chains/aptos/encoding/addresses'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import type { Hex } from '#lib/hex'
import type { Connection } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { type AptosNode, openAptosNode } from '#sandbox/chains/aptos/index'
import { sandboxApiKey, sandboxEntity, sandboxEntitySecret } from '#sandbox/credentials'
import { dataOf } from '#testing/builders/world'
import { cloneDatabase } from '#testing/databases/database'
import { type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { isDeep } from '#testing/runner/size'

const { blockchain } = aptosTestnet
const { nativeToken, tokens } = aptosTestnet
const [usdc] = tokens
const stranger = () => addressOfBytes(randomBytes(32)) as Hex
const apt = 10n ** 8n

let connection: Connection
let node: AptosNode
/** How far the chain's clock is ahead. */
let leadMs = 0
let worker: Worker
let tenant: Tenant
let wallet: { id: string; address: Hex }
let dropDatabase: () => Promise<void>

beforeAll(async () => {
  const cloned = await cloneDatabase('seeded')
  connection = cloned.connection
  dropDatabase = cloned.drop
  node = await openAptosNode({
    chainId: aptosTestnet.chainId,
    directory: undefined,
    clock: () => Date.now() + leadMs,
  })
  await begin()
  const walletSet = (await post('/v1/w3s/developer/walletSets', { name: 'Aptos' })).walletSet
  const asked = { walletSetId: walletSet.id, blockchains: [blockchain], count: 1 }
  const { wallets } = await post('/v1/w3s/developer/wallets', asked)
  wallet = wallets[0]
  node.fund(wallet.address, apt)
  node.fund(wallet.address, 1_000_000_000n, usdc!.address)
  await until(async () => (await balances())['USDC'] === '1000', 'the coins are booked')
})
afterAll(async () => {
  worker?.signal('SIGKILL')
  await worker?.exited
  await node?.close()
  await dropDatabase?.()
})

/** Starts a worker, on the database and the journal of those before it. */
async function begin(): Promise<void> {
  worker = await spawnWorker()
  const roles = ['api', 'indexer', 'transactions', 'tokens', 'reviews', 'webhooks'] as const
  await worker.open({ connection, rpcUrl: node.url, blockchain, roles, logLevel: 'error' })
  const url = (await worker.start())!
  const credentials = { apiKey: sandboxApiKey, entitySecret: sandboxEntitySecret }
  tenant = tenantOf(url, { entityId: sandboxEntity.id, ...credentials })
}

/** Lets the node say that it took what it was sent, and lose it. */
const loseSubmissions = () =>
  node.setFaults({
    answerInstead: ({ method, path }) =>
      method === 'POST' && path === '/v1/transactions' ? { status: 202, json: {} } : undefined,
  })

const ask = (path: string, fields: object) =>
  tenant.sealSecret().then((entitySecretCiphertext) =>
    tenant.http('POST', path, {
      body: { idempotencyKey: randomUUID(), entitySecretCiphertext, ...fields },
    }),
  )
const post = async (path: string, fields: object) => dataOf(await ask(path, fields), path)
const get = async (path: string) => dataOf(await tenant.http('GET', path), path)

async function balances(): Promise<Record<string, string>> {
  const { tokenBalances } = await get(`/v1/w3s/wallets/${wallet.id}/balances`)
  return Object.fromEntries(
    tokenBalances.map((each: { token: { symbol: string }; amount: string }) => [
      each.token.symbol,
      each.amount,
    ]),
  )
}

const transfer = async (tokenId: string, amount: string, to: string): Promise<string> => {
  const fields = {
    walletId: wallet.id,
    tokenId,
    amounts: [amount],
    destinationAddress: to,
    feeLevel: 'MEDIUM',
  }
  return (await post('/v1/w3s/developer/transactions/transfer', fields)).id
}
const read = async (id: string) => (await get(`/v1/w3s/transactions/${id}`)).transaction
const reaches = (id: string, state: string) =>
  until(async () => (await read(id)).state === state, `${id} is ${state}`)

describe('property 218: a wallet on Aptos', () => {
  it('receives, pays coins and assets once, and its books have the fees', async () => {
    expect((await balances())[nativeToken.symbol]).toBe('1')
    const [one, other] = [stranger(), stranger()]
    const ids = [await transfer(usdc!.id, '2.5', one), await transfer(nativeToken.id, '0.25', other)]
    for (const id of ids) await reaches(id, 'COMPLETE')
    expect(node.balanceOf(one, usdc!.address)).toBe(2_500_000n)
    expect(node.balanceOf(other)).toBe(apt / 4n)
    const left = node.balanceOf(wallet.address)
    expect(left).toBeLessThan((apt * 3n) / 4n)
    await until(
      async () => (await balances())[nativeToken.symbol]!.split('.')[1]!.padEnd(8, '0') === String(left),
      'the books agree',
    )
  })

  it('pays once what its node said to have taken and lost: dead by blocks after its expiry, signed again with the same nonce', async () => {
    node.setBlocks('by_hand')
    loseSubmissions()
    const to = stranger()
    const id = await transfer(usdc!.id, '3', to)
    await reaches(id, 'SENT')
    const first = (await read(id)).txHash
    // By the clock of the chain alone, and before its block: nothing is dead.
    leadMs += 590_000
    node.mine()
    node.setFaults({ answerInstead: () => 'drop' })
    leadMs += 20_000
    node.setFaults({})
    node.forgetPool()
    node.mine()
    await until(async () => (await read(id)).txHash !== first, 'it is signed again')
    node.setBlocks('each_transaction')
    await reaches(id, 'COMPLETE')
    expect(node.balanceOf(to, usdc!.address)).toBe(3_000_000n)
  })

  it('pays once what a block took just before its expiry, though no answer said so', async () => {
    node.setBlocks('by_hand')
    const to = stranger()
    const id = await transfer(usdc!.id, '4', to)
    await reaches(id, 'SENT')
    const first = (await read(id)).txHash
    node.setFaults({ dropsAnswers: 'always' })
    leadMs += 595_000
    node.mine()
    leadMs += 60_000
    node.mine()
    node.setFaults({})
    await reaches(id, 'COMPLETE')
    expect((await read(id)).txHash).toBe(first)
    expect(node.balanceOf(to, usdc!.address)).toBe(4_000_000n)
  })

  it('cancels what waits only when it is dead, and moves nothing then', async () => {
    const to = stranger()
    loseSubmissions()
    const id = await transfer(usdc!.id, '5', to)
    await reaches(id, 'SENT')
    const first = (await read(id)).txHash
    await ask(`/v1/w3s/developer/transactions/${id}/cancel`, {})
    node.mine()
    expect((await read(id)).txHash).toBe(first)
    leadMs += 620_000
    node.mine()
    await until(async () => (await read(id)).txHash !== first, 'a cancel transaction is signed')
    node.setFaults({})
    node.setBlocks('each_transaction')
    await reaches(id, 'CANCELLED')
    expect(node.balanceOf(to, usdc!.address)).toBe(0n)
  })

  it('raises the price of what waits, and nothing else of it', async () => {
    node.setBlocks('by_hand')
    loseSubmissions()
    const to = stranger()
    const id = await transfer(usdc!.id, '6', to)
    await reaches(id, 'SENT')
    const first = (await read(id)).txHash
    // A replacement of now would expire later.
    leadMs += 5_000
    node.mine()
    node.setFaults({})
    await ask(`/v1/w3s/developer/transactions/${id}/accelerate`, {})
    await until(async () => {
      const { txHash } = await read(id)
      return txHash !== first && node.pool().includes(txHash)
    }, 'the pool has the dearer one alone')
    expect(node.pool()).toHaveLength(1)
    node.setBlocks('each_transaction')
    node.mine()
    await reaches(id, 'COMPLETE')
    expect(node.balanceOf(to, usdc!.address)).toBe(6_000_000n)
  })

  const deaths: readonly Failpoint[] = [
    'before-signature',
    'before-replacement-send',
    'before-send',
    'before-send-answer',
  ]
  it.each(isDeep ? deaths : [deaths[randomInt(deaths.length)]!])(
    'pays once though its worker dies at %s while it makes dead bytes again',
    async (point) => {
      node.setBlocks('by_hand')
      loseSubmissions()
      const to = stranger()
      const id = await transfer(usdc!.id, '7', to)
      await reaches(id, 'SENT')
      await worker.arm({ point, hit: 1, action: 'kill' })
      leadMs += 620_000
      node.mine()
      await worker.exited
      node.setFaults({})
      node.setBlocks('each_transaction')
      await begin()
      await reaches(id, 'COMPLETE')
      expect(node.balanceOf(to, usdc!.address)).toBe(7_000_000n)
    },
  )
})
