import { appendFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Hex } from '#lib/hex'
import {
  addressOfAccount,
  aptosAccount,
  aptosClient,
  postTransaction,
  signedBytes,
} from '#testing/nodes/aptos-clients'
import type { Account, Aptos } from '#testing/nodes/aptos-sdk'
import { until } from '#testing/platform/until'
import { sizeOf } from '#testing/runner/size'
import { type LedgerJournal, memoryJournal } from '../ledger-journal.ts'
import { assets } from './assets.ts'
import { transactionHash } from './authenticate.ts'
import { NodeError } from './errors.ts'
import { type AptosNode, openAptosNode } from './index.ts'
import { orders } from './issuer.ts'
import type { LedgerEntry } from './journal.ts'
import { type Ledger, mine, openLedger, submitToPool } from './ledger.ts'
import { sendOrder } from './orders.ts'
import { readState } from './state.ts'

const clock = () => 1_790_000_000_000
const expiryS = clock() / 1000 + 500
const accounts = ['1a', '2b', '3c'].map(aptosAccount)
const perAccount = 6

/** Transfers of each account, of each sequence a cheap and a dear one. */
let transfers: { sender: number; sequence: number; bytes: Buffer }[]
let ofDirectory: string
let node: AptosNode
let aptos: Aptos

const open = (directory: string | undefined) =>
  openAptosNode({ chainId: 2, directory, clock, blocks: 'by_hand' })

beforeAll(async () => {
  ofDirectory = mkdtempSync(join(tmpdir(), 'aptos-'))
  node = await open(ofDirectory)
  aptos = aptosClient(node)
  for (const account of accounts) node.fund(addressOfAccount(account), 10n ** 8n)
  node.mine()
  transfers = []
  for (const [sender, account] of accounts.entries())
    for (let sequence = 0; sequence < perAccount; sequence++)
      for (const price of [100, 150])
        transfers.push({ sender, sequence, bytes: await transferOf(account, sequence, price) })
})
afterAll(() => node.close())

async function transferOf(account: Account, sequence: number, price: number): Promise<Buffer> {
  const to = accounts[(sequence + 1) % accounts.length]!
  const transaction = await aptos.transaction.build.simple({
    sender: account.accountAddress,
    data: {
      function: '0x1::aptos_account::transfer',
      functionArguments: [to.accountAddress, 1000 + sequence],
    },
    options: {
      accountSequenceNumber: BigInt(sequence),
      gasUnitPrice: price,
      maxGasAmount: 2000,
      expireTimestamp: expiryS,
    },
  })
  return signedBytes(transaction, aptos.transaction.sign({ signer: account, transaction }))
}

const bytesOf = (sender: number, sequence: number) =>
  transfers.find((transfer) => transfer.sender === sender && transfer.sequence === sequence)!.bytes

const read = async (url: string, path: string) => {
  const response = await fetch(`${url}/${path}`)
  return { status: response.status, headers: response.headers, body: (await response.json()) as never }
}

it('keeps its ledger and its pool, cuts off what was never acknowledged, and belongs to one chain', async () => {
  const [sender] = accounts.map(addressOfAccount)
  await postTransaction(node.url, bytesOf(0, 0))
  const { lastVersion } = node.mine()
  await postTransaction(node.url, bytesOf(0, 1))
  node.mine()
  await postTransaction(node.url, bytesOf(0, 3))
  const before = await read(node.url, `accounts/${sender}/balance/0xa?ledger_version=${lastVersion}`)
  const ledger = await read(node.url, '')
  // A process that is killed closes nothing, and leaves half a line.
  const copy = mkdtempSync(join(tmpdir(), 'aptos-killed-'))
  node.copyTo(copy)
  appendFileSync(join(copy, 'ledger.jsonl'), '{"kind":"block","timest')
  const again = await open(copy)
  expect((await read(again.url, '')).body).toEqual(ledger.body)
  const past = await read(again.url, `accounts/${sender}/balance/0xa?ledger_version=${lastVersion}`)
  expect(past.body).toBe(before.body)
  expect(past.body).not.toBe(Number(again.balanceOf(sender!)))
  expect(again.pool()).toEqual([transactionHash(bytesOf(0, 3))])
  await postTransaction(again.url, bytesOf(0, 2))
  again.mine()
  expect(again.pool()).toEqual([])
  await again.close()
  await expect(openAptosNode({ chainId: 1, directory: copy, clock })).rejects.toThrow(
    'no journal of the chain 1',
  )
})

it('answers for no version before the one that it is pruned to, also after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'aptos-'))
  const first = await open(directory)
  const [account] = accounts.map(addressOfAccount)
  const hash = first.fund(account!, 500_000n)
  const { lastVersion } = first.mine()
  first.fund(account!, 1n)
  const { height } = first.mine()
  first.prune(lastVersion + 1)
  await first.close()
  const again = await open(directory)
  expect(again.url).toBe(first.url)
  const pruned = (code: string) => ({ status: 410, body: { error_code: code } })
  const balance = `accounts/${account}/balance/0xa`
  expect(await read(again.url, `${balance}?ledger_version=${lastVersion}`)).toMatchObject(
    pruned('version_pruned'),
  )
  expect(await read(again.url, `transactions/by_version/${lastVersion}`)).toMatchObject(
    pruned('version_pruned'),
  )
  expect(await read(again.url, `blocks/by_height/${height - 1}`)).toMatchObject(pruned('block_pruned'))
  expect(await read(again.url, `transactions/by_hash/${hash}`)).toMatchObject({
    status: 404,
    body: { error_code: 'transaction_not_found' },
  })
  expect(await read(again.url, balance)).toMatchObject({ status: 200, body: 500_001 })
  const { headers } = await read(again.url, `blocks/by_height/${height}`)
  expect(headers.get('x-aptos-ledger-oldest-version')).toBe(String(lastVersion + 1))
  expect(headers.get('x-aptos-oldest-block-height')).toBe(String(height))
  expect(await read(again.url, `${balance}?ledger_version=99999`)).toMatchObject({ status: 404 })
  await again.close()
})

it('lets each endpoint lag, lie and fail on its own', async () => {
  const one = await open(undefined)
  const behind = await one.openEndpoint()
  const account = addressOfAccount(accounts[0]!)
  const hash = one.fund(account, 10n ** 8n)
  one.mine()
  behind.setFaults({ lagBlocks: 1 })
  const found = (url: string) => read(url, `transactions/by_hash/${hash}`)
  expect(await found(one.url)).toMatchObject({ status: 200 })
  expect(await found(behind.url)).toMatchObject({ status: 404 })
  expect(await read(behind.url, `accounts/${account}/balance/0xa`)).toMatchObject({ body: 0 })
  expect((await found(behind.url)).headers.get('x-aptos-block-height')).toBe('1')
  behind.setFaults({ chainId: 1, hidden: [hash], clockOffMs: 600_000 })
  expect(await read(behind.url, '')).toMatchObject({
    body: { chain_id: 1, ledger_timestamp: '1790000600000001' },
  })
  expect(await found(behind.url)).toMatchObject({ status: 404 })
  const block = (await read(behind.url, 'blocks/by_height/2?with_transactions=true')).body as {
    transactions: { type: string }[]
  }
  expect(block.transactions.map(({ type }) => type)).not.toContain('user_transaction')
  // Its clock is past the expiry, the ledger's is not.
  expect(await postTransaction(behind.url, bytesOf(0, 0))).toMatchObject({ body: { vm_error_code: 6 } })
  behind.setFaults({ losesTransactions: true })
  expect(await postTransaction(behind.url, bytesOf(0, 0))).toMatchObject({ status: 202 })
  expect(one.pool()).toEqual([])
  behind.setFaults({ dropsAnswers: 'submissions' })
  await expect(postTransaction(behind.url, bytesOf(0, 0))).rejects.toThrow('fetch failed')
  one.mine()
  expect(await read(one.url, `transactions/by_hash/${transactionHash(bytesOf(0, 0))}`)).toMatchObject({
    status: 200,
    body: { success: true },
  })
  behind.setFaults({ answerInstead: ({ path }) => (path === '/v1' ? { status: 503, json: {} } : undefined) })
  expect((await read(behind.url, '')).status).toBe(503)
  expect((await found(behind.url)).status).toBe(200)
  await one.close()
})

/** A journal in memory from which further ledgers start. */
function journalOf(entries: LedgerEntry[]): LedgerJournal<LedgerEntry> {
  const first = [...entries]
  return { ...memoryJournal(), takeEntries: () => first, append: (entry) => void entries.push(entry) }
}

const openFrom = (entries: LedgerEntry[]) => openLedger(2, journalOf(entries), clock)

function tryToSend(ledger: Ledger, bytes: Buffer): void {
  try {
    submitToPool(ledger, bytes)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
  }
}

function expectConserved(ledger: Ledger): void {
  const state = readState(ledger.state)
  for (const { metadata } of assets) {
    const held = [...ledger.state.stores.keys()]
      .map((address) => state.get('stores', address)!)
      .filter((store) => store.metadata === metadata)
      .reduce((sum, { balance }) => sum + balance, 0n)
    expect(held).toBe(state.get('supplies', metadata))
  }
}

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('send' as const), index: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('mine' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
)

it('property 210: in any order, with repeats and restarts, each sequence is committed once and no coin is made or lost', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const entries: LedgerEntry[] = []
      let ledger = openFrom(entries)
      mine(ledger)
      for (const account of accounts)
        sendOrder(ledger, orders.mint(assets[0]!.metadata, addressOfAccount(account), 10n ** 8n))
      mine(ledger)
      for (const step of steps) {
        if (step.kind === 'send') tryToSend(ledger, transfers[step.index % transfers.length]!.bytes)
        else if (step.kind === 'mine') mine(ledger)
        else ledger = openFrom(entries)
      }
      for (const { bytes } of transfers) tryToSend(ledger, bytes)
      mine(ledger)
      for (const account of accounts) {
        const sent = ledger.bySender.get(addressOfAccount(account)) ?? []
        expect(sent.map(({ transaction }) => Number(transaction.sequence))).toEqual(
          Array.from({ length: perAccount }, (_, sequence) => sequence),
        )
      }
      expectConserved(ledger)
      const again = openFrom(entries)
      expect(again.blocks).toEqual(ledger.blocks)
      expect([...again.byHash.keys()]).toEqual([...ledger.byHash.keys()])
      expect(again.state).toEqual(ledger.state)
    }),
    { numRuns: sizeOf('APTOS_LEDGERS', { usual: 20, deep: 1000 }) },
  )
})

const alteration = fc.oneof(
  fc.record({ at: fc.nat(), xor: fc.integer({ min: 1, max: 255 }) }).map(({ at, xor }) => (bytes: Buffer) => {
    const altered = Buffer.from(bytes)
    altered[at % bytes.length]! ^= xor
    return altered
  }),
  fc.nat().map((at) => (bytes: Buffer) => bytes.subarray(0, at % bytes.length)),
  fc
    .uint8Array({ minLength: 1, maxLength: 64 })
    .map((more) => (bytes: Buffer) => Buffer.concat([bytes, more])),
  fc
    .record({ at: fc.nat(), more: fc.uint8Array({ minLength: 1, maxLength: 8 }) })
    .map(({ at, more }) => (bytes: Buffer) => {
      const cut = at % bytes.length
      return Buffer.concat([bytes.subarray(0, cut), more, bytes.subarray(cut)])
    }),
)

it('property 211: a transaction of which a byte was altered is refused, with a code of the interface', () => {
  const ledger = openFrom([])
  mine(ledger)
  sendOrder(ledger, orders.mint(assets[0]!.metadata, addressOfAccount(accounts[0]!), 10n ** 8n))
  mine(ledger)
  const bytes = bytesOf(0, 0)
  fc.assert(
    fc.property(alteration, (alter) => {
      expect(() => submitToPool(ledger, alter(bytes))).toThrow(NodeError)
    }),
    { numRuns: sizeOf('APTOS_ALTERATIONS', { usual: 200, deep: 20_000 }) },
  )
  expect(ledger.pool.all()).toEqual([])
  submitToPool(ledger, bytes)
})

it('makes a block after each transaction, one when a transaction that waits has expired, and no others', async () => {
  let nowMs = clock()
  const one = await openAptosNode({ chainId: 2, directory: undefined, clock: () => nowMs })
  const client = aptosClient(one)
  const account = addressOfAccount(accounts[0]!)
  await client.waitForTransaction({ transactionHash: one.fund(account, 10n ** 8n) })
  await postTransaction(one.url, bytesOf(0, 1))
  const before = (await client.getLedgerInfo()).block_height
  expect(one.pool()).toHaveLength(1)
  nowMs = expiryS * 1000
  await until(() => one.pool().length === 0, 'the expired transaction to leave the pool')
  const { block_height, ledger_timestamp } = await client.getLedgerInfo()
  expect(Number(block_height)).toBe(Number(before) + 1)
  expect(Number(ledger_timestamp) / 1_000_000).toBe(expiryS)
  await one.close()
})

it('keeps both sides of a movement of the older coin in the events of its kind', async () => {
  const one = await open(undefined)
  const account: Hex = addressOfAccount(accounts[1]!)
  const typesOf = async (kind: bigint) => {
    one.emitCoinEvents(account, kind)
    const hash = one.fund(account, 5n)
    one.mine()
    const { body } = await read(one.url, `transactions/by_hash/${hash}`)
    return (body as { events: { type: string }[] }).events.map(({ type }) => type.replace('0x1::', ''))
  }
  const statement = 'transaction_fee::FeeStatement'
  expect(await typesOf(0n)).toEqual(['fungible_asset::Deposit', statement])
  expect(await typesOf(1n)).toEqual(['coin::DepositEvent', statement])
  expect(await typesOf(2n)).toEqual(['coin::CoinDeposit', statement])
  expect(await typesOf(3n)).toEqual(['coin::CoinDeposit', 'coin::DepositEvent', statement])
  await one.close()
})
