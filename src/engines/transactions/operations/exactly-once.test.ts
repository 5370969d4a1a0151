/**
 * Property 76: the operation of a transaction has its effect once or not at all, whichever worker dies and whichever block
 * or bundle carries it. Asserted by what the chain holds.
 */
import { randomInt } from 'node:crypto'
import { keccak256 } from 'viem'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { operationFromJson } from '#chains/operation-json'
import { startIndexer } from '#engines/indexer/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { startTreasury } from '#engines/treasury/index'
import type { Failpoint } from '#lib/failpoints'
import { sql } from '#runtime/db/db'
import { freshAddress, type Wallet, type World, worldOf } from '../../../../testing/builders.ts'
import { type Harness, openHarness } from '../../../../testing/harness.ts'
import { checkLedger } from '../../../../testing/ledger-checks.ts'
import { spawnWorker } from '../../../../testing/programs.ts'
import { isDeep } from '../../../../testing/size.ts'
import { until } from '../../../../testing/until.ts'
import type { Worker } from '../../../../testing/worker.ts'

type Engine = { stop(): Promise<void> }

let harness: Harness
let world: World
let wallet: Wallet
let tokenId: string
const engines: Record<'indexer' | 'transactions' | 'treasury', Engine | undefined> = {
  indexer: undefined,
  transactions: undefined,
  treasury: undefined,
}
const workers: Worker[] = []

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await makeAccount()
  await transferred(await transfer(wallet, freshAddress()))
  await harness.stopEngines()
})
afterEach(async () => {
  for (const worker of workers.splice(0)) worker.signal('SIGKILL')
  await stop('treasury', 'transactions')
})
afterAll(async () => {
  await stop('treasury', 'transactions', 'indexer')
  await harness?.close()
})

const starts = { indexer: startIndexer, transactions: startTransactionWorker, treasury: startTreasury }

function start(...names: (keyof typeof engines)[]) {
  for (const name of names) engines[name] ??= starts[name](harness.ctx)
}

async function stop(...names: (keyof typeof engines)[]) {
  for (const name of names) {
    await engines[name]?.stop()
    engines[name] = undefined
  }
}

async function makeAccount(): Promise<Wallet> {
  const { wallets } = await world.call('POST', '/v1/w3s/developer/wallets', {
    idempotencyKey: crypto.randomUUID(),
    entitySecretCiphertext: await harness.sealSecret(),
    walletSetId: (await world.walletSet()).id,
    blockchains: ['BASE-SEPOLIA'],
    accountType: 'SCA',
  })
  const [made] = wallets
  await harness.fundWallet(made.address, { usdc: '1000' })
  await until(async () => {
    const { tokenBalances } = await world.call('GET', `/v1/w3s/wallets/${made.id}/balances`)
    tokenId = tokenBalances[0]?.token.id
    return tokenBalances.length > 0
  }, 'the account has its coins')
  return made
}

const request = async (from: Wallet) => ({
  idempotencyKey: crypto.randomUUID(),
  entitySecretCiphertext: await harness.sealSecret(),
  walletId: from.id,
  feeLevel: 'MEDIUM',
})

async function transfer(from: Wallet, destinationAddress: string, amount = '1'): Promise<string> {
  const body = { ...(await request(from)), tokenId, destinationAddress, amounts: [amount] }
  return (await world.call('POST', '/v1/w3s/developer/transactions/transfer', body)).id
}

/** A call of the token itself, whose amount no hold covers. */
async function callTransfer(from: Wallet, to: string, amountAtomic: bigint): Promise<string> {
  const body = {
    ...(await request(from)),
    contractAddress: harness.chain().tokens.USDC,
    abiFunctionSignature: 'transfer(address,uint256)',
    abiParameters: [to, String(amountAtomic)],
  }
  return (await world.call('POST', '/v1/w3s/developer/transactions/contractExecution', body)).id
}

const read = async (id: string) => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction

const reaches = (id: string, ...states: string[]) =>
  until(async () => states.includes((await read(id)).state), `${id} is ${states}`)

async function transferred(id: string) {
  await reaches(id, 'COMPLETE', 'FAILED')
  expect(await read(id)).toMatchObject({ state: 'COMPLETE' })
}

const movedOnce = (from: Wallet, recipients: readonly string[]) =>
  harness.chain().oracle.checkMovedOnce(
    recipients.map((to) => ({
      ...{ from: from.address, to, token: harness.chain().tokens.USDC },
      amountAtomic: 1_000_000n,
    })),
  )

async function worker(failpoint?: { point: Failpoint; hit: number }): Promise<Worker> {
  const { blockchain, rpcUrl } = harness.chain()
  const made = await spawnWorker()
  workers.push(made)
  const { connection } = harness
  const plan = failpoint && ({ ...failpoint, action: 'kill' } as const)
  await made.open({ connection, rpcUrl, blockchain, roles: ['transactions', 'treasury'], failpoint: plan })
  await made.start()
  return made
}

/** The operations of both transfers are signed together; the second commit of an attempt is that of their bundle. */
const deaths = [
  { point: 'after-signature', hit: 1 },
  { point: 'before-attempt-commit', hit: 1 },
  { point: 'after-attempt-commit', hit: 1 },
  { point: 'before-treasury-commit', hit: 1 },
  { point: 'after-treasury-commit', hit: 1 },
  { point: 'before-attempt-commit', hit: 2 },
  { point: 'after-attempt-commit', hit: 2 },
] as const
const some = [deaths[randomInt(3)]!, deaths[3 + randomInt(4)]!]

it.each(isDeep ? deaths : some)(
  'property 76: operations move their coins once though their worker dies at $point, hit $hit',
  async ({ point, hit }) => {
    start('indexer')
    const recipients = [freshAddress(), freshAddress()]
    const doomed = await worker({ point, hit })
    const ids = await Promise.all(recipients.map((to) => transfer(wallet, to)))
    // Both may be signed in one batch: another one reaches a second commit.
    await until(async () => {
      if (doomed.state() === 'dead') return true
      if ((await Promise.all(ids.map(read))).every(({ state }) => state === 'COMPLETE')) {
        recipients.push(freshAddress())
        ids.push(await transfer(wallet, recipients.at(-1)!))
      }
      return false
    }, `the worker has died at ${point}`)
    await worker()
    for (const id of ids) await transferred(id)
    await movedOnce(wallet, recipients)
    await checkLedger(harness.database)
  },
)

it('property 76: an operation whose block is orphaned is executed once in another one', async () => {
  start('indexer', 'transactions', 'treasury')
  const to = freshAddress()
  const id = await transfer(wallet, to)
  await transferred(id)
  const { blockHash } = await read(id)
  await harness.chain().reorg(1)
  await until(async () => {
    const { state, blockHash: now } = await read(id)
    return state === 'COMPLETE' && now !== blockHash
  }, 'it is complete in another block')
  await movedOnce(wallet, [to])
})

it('property 76: an operation that a stranger bundles is recognised, and not executed again', async () => {
  start('indexer', 'transactions')
  const to = freshAddress()
  const id = await transfer(wallet, to)
  await reaches(id, 'QUEUED')
  await until(async () => (await read(id)).userOpHash !== undefined, 'it is signed')
  const { operation } = await harness.database.one<{ operation: string }>(
    sql`select operation::text as operation from operations where id = ${id}`,
  )
  const { outsider } = harness.chain()
  const chain = harness.ctx.chains.find('BASE-SEPOLIA')!
  const call = chain.accounts.bundleCall([operationFromJson(operation)], outsider)
  const sent = { from: outsider, to: call.to, data: call.data, gas: '0x200000' }
  const txHash = await harness.chain().rpc<string>('eth_sendTransaction', [sent])
  await reaches(id, 'COMPLETE')
  expect(await read(id)).toMatchObject({ txHash })
  start('treasury')
  const next = freshAddress()
  await transferred(await transfer(wallet, next))
  await movedOnce(wallet, [to, next])
})

it('property 76: an account that a stranger deploys first makes its first operation once', async () => {
  start('indexer', 'transactions')
  const fresh = await makeAccount()
  const to = freshAddress()
  const id = await transfer(fresh, to)
  await until(async () => (await read(id)).userOpHash !== undefined, 'it is signed')
  const { creation } = await harness.database.one<{ creation: { factory: string; data: string } }>(
    sql`select operation->'creation' as creation from operations where id = ${id}`,
  )
  const { outsider } = harness.chain()
  const deployment = { from: outsider, to: creation.factory, data: creation.data }
  await harness.chain().rpc('eth_sendTransaction', [deployment])
  expect(await harness.chain().rpc('eth_getCode', [fresh.address, 'latest'])).not.toBe('0x')
  start('treasury')
  await transferred(id)
  await movedOnce(fresh, [to])
})

it('an operation that reverts in its block fails alone, with its reason, and pays its gas', async () => {
  start('indexer', 'transactions', 'treasury')
  const fresh = await makeAccount()
  await transferred(await transfer(fresh, freshAddress()))
  await stop('treasury')
  // Each can be paid, and both together cannot.
  const ids = await Promise.all([1, 2].map(() => callTransfer(fresh, freshAddress(), 900_000_000n)))
  const other = freshAddress()
  const good = await transfer(wallet, other)
  for (const id of [...ids, good])
    await until(async () => (await read(id)).userOpHash !== undefined, 'it is signed')
  start('treasury')
  await transferred(good)
  for (const id of ids) await reaches(id, 'COMPLETE', 'FAILED')
  const failed = (await Promise.all(ids.map(read))).filter(({ state }) => state === 'FAILED')
  expect(failed).toHaveLength(1)
  expect(failed[0]).toMatchObject({
    errorReason: 'FAILED_ON_CHAIN',
    networkFee: expect.stringMatching(/[1-9]/),
  })
  await until(
    async () => (await read(failed[0].id)).errorDetails?.includes('exceeds balance'),
    'its reason is read',
  )
  await movedOnce(wallet, [other])
})

it('a deposit that another party drained is filled again, and operations wait for it', async () => {
  start('indexer', 'transactions', 'treasury')
  const chain = harness.ctx.chains.find('BASE-SEPOLIA')!
  const { address } = await harness.database.one<{ address: string }>(
    sql`select address from sponsors limit 1`,
  )
  const paymaster = chain.accounts.paymasterOf(address as `0x${string}`).address
  const slot = depositSlot(paymaster)
  await harness.chain().rpc('anvil_setStorageAt', [chain.accounts.entryPoint, slot, `0x${'0'.repeat(64)}`])
  expect(await chain.accounts.depositOf(paymaster)).toBe(0n)
  const to = freshAddress()
  await transferred(await transfer(wallet, to))
  await movedOnce(wallet, [to])
  expect(await chain.accounts.depositOf(paymaster)).toBeGreaterThan(0n)
})

/** The EntryPoint keeps deposits in the mapping of its first slot. */
function depositSlot(account: string): string {
  const word = `${account.slice(2).padStart(64, '0')}${'0'.repeat(64)}` as const
  return keccak256(`0x${word}`)
}
