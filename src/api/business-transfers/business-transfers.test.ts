import { randomUUID } from 'node:crypto'
import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveAddress,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World
let circle: Circle
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness.close())

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

const transferOf = async (id: string): Promise<Shown> =>
  (await circle.transfers.getBusinessTransfer(id)).data.data
const all = async (): Promise<Shown[]> =>
  (await circle.transfers.listBusinessTransfers()).data.data as Shown[]
const available = async (): Promise<string | undefined> =>
  (await circle.balances.listBusinessBalances()).data.data!.available?.[0]?.amount
const usd = (amount: string) => ({ amount, currency: 'USD' })
const path = '/v1/businessAccount/transfers'
const post = (addressId: string, fields: object = {}) =>
  harness.http('POST', path, {
    body: {
      idempotencyKey: randomUUID(),
      destination: { type: 'verified_blockchain', addressId },
      amount: usd('1'),
      ...fields,
    },
  })
const eventsOf = async (id: string) =>
  (
    await harness.database.all<{ type: string }>(
      sql`select type from events where resource_id = ${id} and type like 'transfer.%' order by id`,
    )
  ).map(({ type }) => type)

/** Sends USDC from outside to the account's own deposit address; resolves when it is credited. */
async function receive(amountAtomic: bigint): Promise<Shown> {
  const { address } = await world.call('POST', '/v1/businessAccount/wallets/addresses/deposit', {
    idempotencyKey: randomUUID(),
    chain: 'BASE',
    currency: 'USD',
  })
  const hash = await harness.chain().send(address, amountAtomic, 'USDC')
  let found: Shown
  await until(async () => {
    found = (await all()).find(({ transactionHash }) => transactionHash === hash)
    return found?.status === 'complete'
  }, 'the incoming transfer is complete')
  return found
}

describe('a transfer', () => {
  it('arrives from a payment to a deposit address and credits the wallet', async () => {
    const transfer = await receive(25_000_000n)
    const id = expect.stringMatching(/^1000\d{12}$/)
    const { outsider } = harness.chain()
    expect(transfer).toEqual({
      id: transfer.id,
      source: { type: 'blockchain', chain: 'BASE', address: outsider.toLowerCase() },
      destination: { type: 'wallet', id, address: expect.stringMatching(/^0x[0-9a-f]{40}$/) },
      amount: usd('25.00'),
      transactionHash: transfer.transactionHash,
      status: 'complete',
      createDate: transfer.createDate,
      updateDate: transfer.updateDate,
    })
    expect(await available()).toBe('25.00')
    expect(await eventsOf(transfer.id)).toEqual(['transfer.pending', 'transfer.running', 'transfer.complete'])
    expect((await harness.http('GET', '/v1/payments')).body.data).toEqual([])
  })

  it('pays a verified address from received coins, once on chain', async () => {
    const address = freshAddress()
    const own = await makeActiveAddress(world, { address })
    const { data } = (
      await circle.transfers.createBusinessTransfer({
        idempotencyKey: randomUUID(),
        destination: { type: 'verified_blockchain', addressId: own.id },
        amount: { amount: '20', currency: 'USD' },
      } as never)
    ).data as Shown
    expect(data).toMatchObject({ status: 'pending', amount: usd('20.00') })
    expect(await available()).toBe('5.00')
    await until(async () => (await transferOf(data.id)).status === 'complete', 'the transfer is complete')
    const transfer = await transferOf(data.id)
    expect(transfer).toEqual({
      id: data.id,
      source: { type: 'wallet', id: data.source.id },
      destination: { type: 'blockchain', address, chain: 'BASE' },
      amount: usd('20.00'),
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      status: 'complete',
      createDate: data.createDate,
      updateDate: transfer.updateDate,
    })
    const { oracle, tokens } = harness.chain()
    const moved = await oracle.transfers({ to: address, token: tokens.USDC })
    expect(moved).toMatchObject([{ amountAtomic: 20_000_000n, txHash: transfer.transactionHash }])
    expect(await eventsOf(data.id)).toEqual(['transfer.pending', 'transfer.running', 'transfer.complete'])
    expect(await available()).toBe('5.00')
    await checkLedger(harness.database)
  })

  it('is reverted when its incoming block is orphaned', async () => {
    const snapshot = await harness.chain().snapshot()
    const { id } = await receive(1_000_000n)
    expect(await available()).toBe('6.00')
    await harness.chain().revert(snapshot)
    await harness.chain().mine(2)
    await until(async () => (await transferOf(id)).status === 'pending', 'it is taken back')
    expect(await available()).toBe('5.00')
    await harness.chain().mine(14)
    await until(async () => (await transferOf(id)).status === 'failed', 'it is given up')
    await checkLedger(harness.database)
  })
})

describe('a transfer is refused for', () => {
  it.each([
    ['more than there is', { amount: usd('5.000001') }, 1093],
    ['nothing', { amount: usd('0') }, 2],
    ['less than nothing', { amount: usd('-1') }, 2],
    ['another currency', { amount: { amount: '1', currency: 'ETH' } }, 5007],
    ['another wallet', { source: { type: 'wallet', id: '1000' } }, 1089],
    ['another kind of destination', { destination: { type: 'wallet', id: '1000' } }, 2],
    ['an unknown address', { destination: { type: 'verified_blockchain', addressId: randomUUID() } }, 2004],
  ])('%s', async (_, fields, code) => {
    const { id } = await world.ownAddress()
    expect(await post(id, fields)).toMatchObject({ status: 400, body: { code } })
    expect(await available()).toBe('5.00')
  })

  it('an unverified address, and one of another merchant', async () => {
    const { id } = await makeActiveAddress(world)
    await harness.database.run(sql`update recipient_addresses
      set status = 'verification_succeeded', hold_until = '2999-01-01' where id = ${id}`)
    expect(await post(id)).toMatchObject({ status: 400, body: { code: 2004 } })
    const theirs = await makeActiveAddress(worldOf(harness, await harness.newEntity()))
    expect(await post(theirs.id)).toMatchObject({ status: 400, body: { code: 2004 } })
  })
})

describe('the list of transfers', () => {
  it('filters directions by wallet and excludes other merchants', async () => {
    await fundMerchantWallet(world, 1_000_000n)
    const list = async (query: Record<string, string>): Promise<Shown[]> =>
      (await harness.http('GET', path, { query })).body.data
    const found = await all()
    const own = found.find(({ source }) => source.type === 'wallet').source.id
    expect(await list({ walletId: own })).toEqual(found)
    expect(await list({ walletId: '1000' })).toEqual([])
    expect((await list({ sourceWalletId: own })).map(({ source }) => source.type)).toContain('wallet')
    const incoming = await list({ destinationWalletId: own })
    expect(new Set(incoming.map(({ source }) => source.type))).toEqual(new Set(['blockchain']))
    expect(await list({ sourceWalletId: own, destinationWalletId: own })).toEqual([])
    const other = await harness.newEntity()
    expect((await other.http('GET', path)).body.data).toEqual([])
    expect(await other.http('GET', `${path}/${found[0].id}`)).toMatchObject({ status: 404 })
  })

  it('shows an empty list of identities on request, and refuses unreadable dates', async () => {
    const out = (await all()).find(({ source }) => source.type === 'wallet')
    const { body } = await harness.http('GET', `${path}/${out.id}`, { query: { returnIdentities: 'true' } })
    expect(body.data.source.identities).toEqual([])
    expect(await harness.http('GET', path, { query: { from: '212000' } })).toMatchObject({
      body: { code: 2 },
    })
  })
})
