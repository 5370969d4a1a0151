/**
 * A program with one more family of chains, which has nothing but what all families have: its folder, its keys, and a row in
 * three lists. Whatever an engine asks for beyond that fails here.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { monadTestnet } from '#chains/networks/monad-testnet'
import { sandboxApiKey, sandboxEntity, sandboxEntitySecret } from '#sandbox/credentials'
import { dataOf } from '#testing/builders/world'
import { type LedgerNode, openLedgerNode } from '#testing/conformance/ledger/node'
import { cloneDatabase } from '#testing/databases/database'
import { type Tenant, tenantOf } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { compileAll } from '#testing/processes/compile-programs'
import { startWorker, type Worker } from '#testing/processes/worker'

const { blockchain, nativeToken, tokens } = monadTestnet
const usdc = tokens.find(({ symbol }) => symbol === 'USDC')!
const token = usdc.address.toLowerCase()
const coin = 10n ** 18n
/** An address as the ledger writes it. */
const stranger = () => randomBytes(32).toString('hex')

type Wallet = { id: string; address: string; blockchain: string }

let directory: string
let node: LedgerNode
let worker: Worker
let tenant: Tenant
let wallet: Wallet
let onEvm: Wallet
let dropDatabase: () => Promise<void>

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bezant-family-'))
  const { worker: program } = await compileAll({ worker: 'testing/processes/worker-process.ts' }, directory, {
    'src/chains/families.ts': 'testing/conformance/ledger/chain-families.ts',
    'src/chains/networks/monad-testnet.ts': 'testing/conformance/ledger/network.ts',
    'src/custody/families/index.ts': 'testing/conformance/ledger/custody-families.ts',
  })
  const { connection, drop } = await cloneDatabase('seeded')
  dropDatabase = drop
  node = await openLedgerNode()
  worker = await startWorker([program])
  const roles = ['api', 'indexer', 'transactions', 'tokens', 'reviews', 'webhooks'] as const
  await worker.open({ connection, rpcUrl: node.url, blockchain, roles, logLevel: 'error' })
  const url = (await worker.start())!
  const credentials = { apiKey: sandboxApiKey, entitySecret: sandboxEntitySecret }
  tenant = tenantOf(url, { entityId: sandboxEntity.id, ...credentials })
  const walletSet = (await post('/v1/w3s/developer/walletSets', { name: 'Families' })).walletSet
  const asked = { walletSetId: walletSet.id, blockchains: [blockchain, 'EVM-TESTNET'], count: 1 }
  const { wallets } = (await post('/v1/w3s/developer/wallets', asked)) as { wallets: Wallet[] }
  wallet = wallets.find((each) => each.blockchain === blockchain)!
  onEvm = wallets.find((each) => each.blockchain !== blockchain)!
  node.ledger.fund(wallet.address, coin)
  node.ledger.fund(wallet.address, 1_000_000_000n, token)
  await until(async () => (await balances()).USDC === '1000', 'the coins are booked')
})
afterAll(async () => {
  worker?.signal('SIGKILL')
  await worker?.exited
  await node?.close()
  await dropDatabase?.()
  await rm(directory, { recursive: true, force: true })
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

describe('a family that has what all families have', () => {
  it('gives a wallet the key of its family', () => {
    expect(wallet.address).toMatch(/^[0-9a-f]{64}$/)
    expect(onEvm.address).toMatch(/^0x[0-9a-f]{40}$/)
  })

  it('shows what is received', async () => {
    const received = async () => {
      const { transactions } = await get(`/v1/w3s/transactions?walletIds=${wallet.id}&txType=INBOUND`)
      const complete = transactions.filter(({ state }: { state: string }) => state === 'COMPLETE')
      return complete.map(({ amounts }: { amounts: string[] }) => amounts[0]).sort()
    }
    await until(async () => isDeepStrictEqual(await received(), ['1', '1000']), 'both payments are complete')
    expect((await balances())[nativeToken.symbol]).toBe('1')
  })

  it('pays coins and tokens once, and books the fees that the chain took', async () => {
    const [one, other] = [stranger(), stranger()]
    const ids = await Promise.all([transfer(usdc.id, '2.5', one), transfer(nativeToken.id, '0.25', other)])
    for (const id of ids) await reaches(id, 'COMPLETE')
    expect(node.ledger.balanceOf(one, token)).toBe(2_500_000n)
    expect(node.ledger.balanceOf(other)).toBe(coin / 4n)
    const left = node.ledger.balanceOf(wallet.address)
    expect(left).toBeLessThan((coin * 3n) / 4n)
    const shown = (await balances())[nativeToken.symbol]!
    expect(BigInt(`${shown.split('.')[1]!.padEnd(18, '0')}`)).toBe(left)
  })

  it('replaces what waits, while the node is away now and then, and pays it once', async () => {
    node.ledger.automine = false
    const to = stranger()
    const id = await transfer(usdc.id, '3', to)
    await reaches(id, 'SENT')
    node.away = true
    await ask(`/v1/w3s/developer/transactions/${id}/accelerate`, {})
    node.away = false
    const first = (await read(id)).txHash
    await until(async () => (await read(id)).txHash !== first, 'a replacement is sent')
    node.ledger.automine = true
    node.ledger.mine()
    await reaches(id, 'COMPLETE')
    expect(node.ledger.balanceOf(to, token)).toBe(3_000_000n)
  })

  it('follows a reorg of its chain, and pays once', async () => {
    const to = stranger()
    const id = await transfer(usdc.id, '4', to)
    await reaches(id, 'COMPLETE')
    const before = node.ledger.balanceOf(wallet.address, token)
    node.ledger.rewind(2)
    node.ledger.mine()
    node.ledger.mine()
    node.ledger.mine()
    await reaches(id, 'COMPLETE')
    expect(node.ledger.balanceOf(to, token)).toBe(4_000_000n)
    expect(node.ledger.balanceOf(wallet.address, token)).toBe(before)
    await until(async () => (await balances()).USDC === String(Number(before) / 1_000_000), 'the books agree')
  })
})

it('what the family lacks is refused by name, and nothing is written', async () => {
  const to = stranger()
  const refused = {
    smartAccount: await ask('/v1/w3s/developer/wallets', {
      walletSetId: (await get(`/v1/w3s/wallets/${wallet.id}`)).wallet.walletSetId,
      blockchains: [blockchain],
      accountType: 'SCA',
    }),
    execution: await ask('/v1/w3s/developer/transactions/contractExecution', {
      walletId: wallet.id,
      contractAddress: to,
      abiFunctionSignature: 'approve(address,uint256)',
      abiParameters: [to, '1'],
      feeLevel: 'MEDIUM',
    }),
    signing: await ask('/v1/w3s/developer/sign/message', { walletId: wallet.id, message: 'hello' }),
    contract: await ask('/v1/w3s/contracts/import', { name: 'None', address: to, blockchain }),
    query: await ask('/v1/w3s/contracts/query', {
      address: to,
      blockchain,
      abiFunctionSignature: 'name()',
      abiParameters: [],
    }),
    monitor: await ask('/v1/w3s/contracts/monitors', {
      blockchain,
      contractAddress: to,
      eventSignature: 'Transfer(address,address,uint256)',
    }),
    faucet: await ask('/v1/faucet/drips', { address: wallet.address, blockchain, usdc: true }),
  }
  const query = { eventSignature: 'Transfer(address,address,uint256)' }
  const listed = await tenant.http('GET', '/v1/w3s/contracts/monitors', { query })
  expect([listed.status, listed.body?.data?.eventMonitors]).toEqual([200, []])
  const answers = Object.entries(refused).map(([what, { status, body }]) => [what, status, body?.message])
  expect(answers).toMatchInlineSnapshot(`
    [
      [
        "smartAccount",
        400,
        "Smart contract accounts are not available on this blockchain. blockchains[0] has no smart contract accounts: use accountType EOA.",
      ],
      [
        "execution",
        400,
        "The operation is not supported on this blockchain. walletId is of a blockchain that runs no contracts.",
      ],
      [
        "signing",
        400,
        "The operation is not supported on this blockchain. walletId is of a blockchain whose wallets sign no messages.",
      ],
      [
        "contract",
        400,
        "The blockchain is not supported for contracts. blockchain runs no contracts, and no blockchain is available to this key.",
      ],
      [
        "query",
        400,
        "The blockchain is not supported for contracts. blockchain runs no contracts, and no blockchain is available to this key.",
      ],
      [
        "monitor",
        400,
        "The blockchain is not supported for contracts. blockchain runs no contracts, and no blockchain is available to this key.",
      ],
      [
        "faucet",
        403,
        "Forbidden: only a sandbox has a faucet, and only for a TEST key. Send the coins from a funded wallet.",
      ],
    ]
  `)
})
