/**
 * An older copy of the database replaces it after payouts, transfers and refunds were sent: each is there again under its own
 * id, debits its merchant once, and is not paid again, neither by a worker nor by a repeated request.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type Database, openDatabase, sql } from '#runtime/db/db'
import { seededRandom } from '#testing/adversary/seeded-random'
import { checkLedger } from '#testing/builders/ledger-checks'
import { freshAddress } from '#testing/builders/world'
import { type Clone, urlOf } from '#testing/databases/database-clone'
import { cleanUp, cleanups, copyOf, openTwoMachines } from '#testing/databases/restored-database'
import { testRootKey } from '#testing/databases/template'
import { sendAsIssuer } from '#testing/nodes/issuer'
import type { TestChain } from '#testing/platform/chain'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { createJournal, listJournalIds } from '../../transactions/journal/directory.ts'
import { decodeRecords, openJournal } from '../../transactions/journal/journal.ts'
import { readFrom } from '../../transactions/journal/segments.ts'
import { proveMoney } from '../reconciliation/index.ts'

afterEach(cleanUp)

const roles = ['transactions', 'treasury', 'reviews'] as const
const usd = (amount: string) => ({ amount, currency: 'USD' })

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

/** A request for a payout, a transfer or a refund, to be repeated. */
type Order = {
  path: string
  body: object
  kind: 'payouts' | 'businessAccount/transfers' | 'payments'
  to: string
  amountAtomic: bigint
}

type Payees = { recipient: Payee; own: Payee; intentId: string }
type Payee = { id: string; address: string }

async function call(tenant: Tenant, method: string, path: string, body?: object): Promise<Shown> {
  const answer = await tenant.http(method, path, body ? { body } : {})
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
  return answer.body.data
}

const ask = async (tenant: Tenant, { path, body }: Order): Promise<string> =>
  (await call(tenant, 'POST', path, body)).id

const show = (tenant: Tenant, { kind }: Order, id: string) => call(tenant, 'GET', `/v1/${kind}/${id}`)

const ends = { payouts: 'complete', 'businessAccount/transfers': 'complete', payments: 'paid' } as const

/** Merchant's wallet, available: in base units. */
async function available(tenant: Tenant): Promise<bigint> {
  const [balance] = (await call(tenant, 'GET', '/v1/businessAccount/balances')).available
  return BigInt(Math.round(Number(balance?.amount ?? 0) * 1_000_000))
}

let cents = 0
/** One of each kind, with an amount that no other has. */
function ordersTo({ recipient, own, intentId }: Payees): Order[] {
  const next = () => {
    const amount = (++cents / 100).toFixed(2)
    return { amount: usd(amount), amountAtomic: BigInt(cents) * 10_000n }
  }
  const [payout, transfer, refund] = [next(), next(), next()]
  const key = () => ({ idempotencyKey: randomUUID() })
  const address = freshAddress()
  return [
    {
      path: '/v1/payouts',
      kind: 'payouts',
      to: recipient.address,
      amountAtomic: payout.amountAtomic,
      body: { ...key(), destination: { type: 'address_book', id: recipient.id }, amount: payout.amount },
    },
    {
      path: '/v1/businessAccount/transfers',
      kind: 'businessAccount/transfers',
      to: own.address,
      amountAtomic: transfer.amountAtomic,
      body: {
        ...key(),
        destination: { type: 'verified_blockchain', addressId: own.id },
        amount: transfer.amount,
      },
    },
    {
      path: `/v1/paymentIntents/${intentId}/refund`,
      kind: 'payments',
      to: address,
      amountAtomic: refund.amountAtomic,
      body: {
        ...key(),
        destination: { address, chain: 'BASE' },
        amount: { currency: 'USD' },
        toAmount: refund.amount,
      },
    },
  ]
}

/** Makes a recipient, an own address, and an intent that was paid `paidAtomic` of USDC. */
async function makePayees(tenant: Tenant, chain: TestChain, paidAtomic = 50_000_000n): Promise<Payees> {
  const made = (path: string, fields: object): Promise<Shown> =>
    call(tenant, 'POST', path, { idempotencyKey: randomUUID(), ...fields })
  const at = () => ({ chain: 'BASE', address: freshAddress() })
  const metadata = { nickname: 'Ada', email: 'ada@example.com' }
  const recipient = await made('/v1/addressBook/recipients', { ...at(), metadata })
  const addresses = '/v1/businessAccount/wallets/addresses/recipient'
  const own = await made(addresses, { ...at(), description: 'Our cold wallet' })
  const intent = await made('/v1/paymentIntents', {
    currency: 'USD',
    settlementCurrency: 'USD',
    type: 'continuous',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  })
  const before = await available(tenant)
  const shown = () => call(tenant, 'GET', `/v1/paymentIntents/${intent.id}`)
  await until(async () => (await shown()).paymentMethods?.[0]?.address !== undefined, 'it has its address')
  await chain.send((await shown()).paymentMethods[0].address, paidAtomic, 'USDC')
  await until(async () => (await available(tenant)) === before + paidAtomic, 'the money is credited')
  await until(
    async () =>
      (await call(tenant, 'GET', `/v1/addressBook/recipients/${recipient.id}`)).status === 'active' &&
      (await call(tenant, 'GET', addresses)).every(({ status }: Shown) => status === 'active'),
    'both may be paid',
  )
  return { recipient, own, intentId: intent.id }
}

const sumOf = (orders: readonly Order[]) => orders.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)

async function allEnd(tenant: Tenant, orders: readonly Order[], ids: readonly string[]): Promise<void> {
  for (const [index, order] of orders.entries())
    await until(
      async () => (await show(tenant, order, ids[index]!)).status === ends[order.kind],
      `${order.kind} ${ids[index]} has ended`,
    )
}

const allAsked = async (tenant: Tenant, orders: readonly Order[]) => {
  const ids = []
  for (const order of orders) ids.push(await ask(tenant, order))
  return ids
}

const eventsOf = async (database: Database, ids: readonly string[]) =>
  (
    await database.all<{ id: string }>(sql`select resource_id as id from events
      where resource_id = any(${ids}::text[]) and type in ('payout.complete', 'transfer.complete', 'payment.paid')`)
  ).map(({ id }) => id)

it('property 144: payouts, transfers and refunds sent after the copy are there again, and debit their merchant once', async () => {
  const site = await openTwoMachines(seededRandom(1), { automine: true })
  const { chain } = site
  const first = await copyOf('seeded')
  const before = await site.front(first)
  for (const machine of ['one', 'two']) await site.open(first, machine, { roles })
  const payees = await makePayees(before, chain)
  const kept = ordersTo(payees)
  await allEnd(before, kept, await allAsked(before, kept))
  await site.closeAll()
  const restored = await copyOf(first.name)

  const later = await site.front(first)
  await site.open(first, 'two', { roles })
  const paid = ordersTo(payees)
  const paidIds = await allAsked(later, paid)
  await allEnd(later, paid, paidIds)
  await chain.setAutomine(false)
  const flying = ordersTo(payees)
  const flyingIds = await allAsked(later, flying)
  const pending = async () => Number((await chain.rpc<{ pending: string }>('txpool_status')).pending)
  await until(async () => (await pending()) === 3, 'a node has all three')
  await site.killAll()

  const database = openDatabase(restored.connection, 2)
  cleanups.push(() => database.close())
  const again = await site.front(restored)
  // Their journal is on the other machine: what is repeated now is accepted as new, and must not be paid.
  const repeated = [paid[0]!, ...flying]
  await site.open(restored, 'one', { roles })
  const twins = await allAsked(again, repeated.slice(0, 2))
  const submitted = sql`select 1 from platform_transactions where id = any(${twins}::uuid[])`
  await until(async () => (await database.all(submitted)).length === 2, 'their transactions wait')
  await site.closeWorkers()
  await site.open(restored, 'one')
  twins.push(...(await allAsked(again, repeated.slice(2))))

  // No treasury runs before the merge: the last two still lack a transaction then.
  await site.open(restored, 'two')
  const isThere = async () => (await again.http('GET', `/v1/payouts/${flyingIds[0]}`)).status === 200
  await until(isThere, 'the journal is merged')
  await site.open(restored, 'three', { roles: ['treasury'] })
  const lost = [...paid, ...flying]
  const lostIds = [...paidIds, ...flyingIds]
  expect(twins.filter((id) => lostIds.includes(id))).toEqual([])
  for (const [index, order] of repeated.entries())
    await until(
      async () => (await show(again, order, twins[index]!)).status === 'failed',
      `the duplicate of a request to ${order.path} fails`,
    )
  expect(await allAsked(again, lost)).toEqual(lostIds)
  await allEnd(again, paid, paidIds)
  for (const [index, order] of flying.entries())
    expect((await show(again, order, flyingIds[index]!)).status).toMatch(/pending|running/)
  expect(await available(again)).toBe(50_000_000n - sumOf([...kept, ...lost]))

  await chain.setAutomine(true)
  await chain.mine()
  await allEnd(again, lost, lostIds)
  expect(await allAsked(again, lost)).toEqual(lostIds)
  const token = chain.tokens.USDC
  await chain.oracle.checkMovedOnce(
    [...kept, ...lost].map(({ to, amountAtomic }) => ({ to, token, amountAtomic })),
  )
  expect(await available(again)).toBe(50_000_000n - sumOf([...kept, ...lost]))
  const refunds = [...kept, ...lost].filter(({ kind }) => kind === 'payments')
  const { amountRefunded } = await call(again, 'GET', `/v1/paymentIntents/${payees.intentId}`)
  expect(amountRefunded).toEqual(usd((Number(sumOf(refunds)) / 1_000_000).toFixed(2)))
  expect((await eventsOf(database, lostIds)).sort()).toEqual([...lostIds].sort())
  await checkLedger(database)
  expect((await proveMoney(database)).gaps).toEqual([])
})

/** A journal as versions before wrote it: without the rows that transactions pay. */
async function journalOfBefore(home: string): Promise<string> {
  const [id] = await listJournalIds(join(home, 'two', 'journals'))
  const directory = await createJournal(join(home, 'before'))
  const journal = await openJournal(directory)
  for await (const { payload } of readFrom(join(home, 'two', 'journals', id!), id!, 0)) {
    const records = decodeRecords(payload).map((record) => {
      const { resources: _, ...accepted } = JSON.parse(record.accepted)
      return { ...record, accepted: JSON.stringify(accepted) }
    })
    await journal.append(records)
  }
  await journal.close()
  return directory.path
}

const merge = (clone: Clone, directory: string) =>
  runCommand({
    command: 'journal',
    args: ['merge', directory, '--json'],
    env: { DATABASE_URL: urlOf(clone.connection), BEZANT_ROOT_KEY: testRootKey.toString('hex') },
  })

it('property 144: an intent that the copy lacks is there again with its refund; earlier journals restore transactions alone', async () => {
  const site = await openTwoMachines(seededRandom(1), { automine: true })
  const { chain } = site
  const first = await copyOf('seeded')
  const before = await site.front(first)
  for (const machine of ['one', 'two']) await site.open(first, machine, { roles })
  const kept = ordersTo(await makePayees(before, chain))
  await allEnd(before, kept, await allAsked(before, kept))
  await site.closeAll()
  const [restored, old] = [await copyOf(first.name), await copyOf(first.name)]

  const later = await site.front(first)
  await site.open(first, 'two', { roles })
  const payees = await makePayees(later, chain, 3_000_000n)
  await chain.setAutomine(false)
  const [payout, , refund] = ordersTo(payees) as [Order, Order, Order]
  const ids = await allAsked(later, [payout, refund])
  const pending = async () => Number((await chain.rpc<{ pending: string }>('txpool_status')).pending)
  await until(async () => (await pending()) === 2, 'a node has both')
  await site.killAll()

  const merged = await merge(old, await journalOfBefore(site.home))
  expect(merged.code, merged.stderr).toBe(0)
  const ofOld = await site.front(old)
  for (const [index, { kind }] of [payout, refund].entries())
    expect((await ofOld.http('GET', `/v1/${kind}/${ids[index]}`)).status).toBe(404)
  await site.closeAll()

  const again = await site.front(restored)
  for (const machine of ['one', 'two']) await site.open(restored, machine, { roles })
  const left = 50_000_000n - sumOf(kept)
  await until(
    async () => (await available(again)) === left - sumOf([payout, refund]),
    'both are restored and held',
  )
  // The address book has the recipient of the payout again, who was added after the copy.
  const { status } = await call(again, 'GET', `/v1/addressBook/recipients/${payees.recipient.id}`)
  expect(status).toBe('active')
  const refunded = async () =>
    (await call(again, 'GET', `/v1/paymentIntents/${payees.intentId}`)).amountRefunded.amount
  expect(Number(await refunded()) * 1_000_000).toBe(Number(refund.amountAtomic))
  await sendAsIssuer(chain, 'blocklist', refund.to)
  await chain.setAutomine(true)
  await chain.mine()
  await allEnd(again, [payout], ids)
  await until(async () => (await show(again, refund, ids[1]!)).status === 'failed', 'the refund fails')
  expect(await refunded()).toBe('0.00')
  expect(await available(again)).toBe(left - payout.amountAtomic)
  const database = openDatabase(restored.connection, 2)
  cleanups.push(() => database.close())
  await checkLedger(database)
  expect((await proveMoney(database)).gaps).toEqual([])
})
