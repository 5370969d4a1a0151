import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closedDays } from '#engines/ledger/closing/index'
import { post, walletEntries } from '#engines/ledger/index'
import { sql } from '#runtime/db/db'
import { approveBatch, fileOf, uploadBatch } from '#testing/builders/payout-batches'
import { fundMerchantWallet, makePayout, type World, worldOf } from '#testing/builders/world'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const dayMs = 86_400_000
const hourMs = 3_600_000
/** A day to come, so that everything before it is dated by real time. */
const firstMs = Math.ceil(Date.now() / dayMs) * dayMs + dayMs
const dayOf = (atMs: number) => new Date(atMs).toISOString().slice(0, 10)
const [first, second, third] = [0, 1, 2].map((days) => dayOf(firstMs + days * dayMs)) as [
  string,
  string,
  string,
]

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness({ config: { recipientHoldHours: 0 } })
  world = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

type Line = Record<string, string>
const exported = async (name: string, query: Record<string, string>, of = world) => {
  const answer = await of.tenant.http('GET', `/operator/exports/${name}`, { query })
  expect(answer.status, answer.text).toBe(200)
  const digest = createHash('sha256').update(answer.text).digest('base64')
  expect(answer.headers.get('repr-digest')).toBe(`sha-256=:${digest}:`)
  expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(answer.text)))
  return answer.text
}
const linesOf = async (name: string, query: Record<string, string>, of = world): Promise<Line[]> =>
  parse(await exported(name, query, of), { columns: true })
const closed = (day: string) =>
  until(
    async () => (await world.call('GET', '/operator/exports/days')).finalThrough === day,
    `${day} is closed`,
  )
const paid = async () =>
  until(
    async () =>
      (await world.call('GET', '/v1/payouts')).every(
        ({ status }: { status: string }) => status === 'complete',
      ),
    'the payouts are paid',
  )
/** An amount in its smallest part, so that sums are exact. */
const atomic = (text: string) => {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const size = BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0'))
  return text.startsWith('-') ? -size : size
}
function sums(lines: readonly Line[], keyOf: (line: Line) => string, amountOf: (line: Line) => bigint) {
  const found = new Map<string, bigint>()
  for (const line of lines) found.set(keyOf(line), (found.get(keyOf(line)) ?? 0n) + amountOf(line))
  return found
}
const gainOf = ({ debit = '', credit = '' }: Line) => atomic(debit || '0') - atomic(credit || '0')

it('property 258: the journal balances, sums to the balances and the chain, and a closed day never changes', async () => {
  harness.clock.hold(firstMs + 12 * hourMs)
  await fundMerchantWallet(world, 50_000_000n)
  const payee = await world.payee()
  const batch = await uploadBatch(
    world,
    fileOf('recipient,amount,currency,reference', `${payee.id},2.5,USD,=invoice 7`),
  )
  await approveBatch(world, batch)
  await until(async () => (await world.call('GET', '/v1/payouts')).length === 1, 'the row is a payout')
  await paid()
  harness.clock.hold(firstMs + dayMs + 12 * hourMs)
  await makePayout(world, { amount: { amount: '1', currency: 'USD' } })
  await paid()
  const open = await world.tenant.http('GET', '/operator/exports/journal', {
    query: { from: first, to: second },
  })
  expect([open.status, open.body.errors[0].location]).toEqual([400, 'to'])

  harness.clock.hold(firstMs + 2 * dayMs + hourMs)
  await closed(second)
  const range = { from: first, to: second }
  const journal = await linesOf('journal', range)
  const balanced = sums(journal, ({ transaction, coin }) => `${transaction} ${coin}`, gainOf)
  expect([...balanced.values()].every((sum) => sum === 0n)).toBe(true)
  const accounts = (await world.call('GET', '/operator/accounts')) as {
    kind: string
    address?: string
    posted: string
    symbol?: string
    currency?: string
  }[]
  const gained = sums(journal, ({ account, coin }) => `${account} ${coin}`, gainOf)
  const words = { address: 'Coins at', wallet: 'Money of the main wallet' }
  for (const kind of ['address', 'wallet'] as const)
    for (const { address, posted, symbol, currency } of accounts.filter((each) => each.kind === kind))
      expect(gained.get(`${words[kind]} ${address} ${symbol ?? currency}`)).toBe(atomic(posted))
  const { oracle, tokens } = harness.chain()
  const owned = accounts.filter(({ kind, symbol }) => kind === 'address' && symbol === 'USDC')
  for (const { address, posted } of owned)
    expect(await oracle.balanceOf(address!, tokens.USDC)).toBe(atomic(posted) / 10n ** 12n)
  expect(journal.filter(({ reference }) => reference === "'=invoice 7")).toHaveLength(2)

  const statement = await linesOf('statement', range)
  const keys = new Set(statement.map(keyOfAccount))
  expect(keys.size).toBeGreaterThan(2)
  for (const key of keys)
    expectStatement(
      key,
      statement.filter((line) => keyOfAccount(line) === key),
    )
  const fees = await linesOf('fees', range)
  expect(fees.length).toBeGreaterThan(0)
  expect(fees.reduce((sum, { fee }) => sum + atomic(fee!), 0n)).toBe(
    [...gained].filter(([key]) => key.startsWith('Network fees')).reduce((sum, [, value]) => sum + value, 0n),
  )
  for (const { payer, transactionHash } of fees)
    expect([payer, transactionHash]).toEqual([
      expect.stringMatching(/^0x[0-9a-f]{40}$/),
      expect.stringMatching(/^0x[0-9a-f]{64}$/),
    ])

  const before = await Promise.all(['journal', 'fees', 'statement'].map((name) => exported(name, range)))
  // The clock goes back into a day that is closed, and something happens there.
  harness.clock.hold(firstMs + dayMs + 13 * hourMs)
  await makePayout(world, { amount: { amount: '3', currency: 'USD' } })
  await paid()
  expect(await Promise.all(['journal', 'fees', 'statement'].map((name) => exported(name, range)))).toEqual(
    before,
  )
  harness.clock.hold(firstMs + 3 * dayMs + hourMs)
  await closed(third)
  const late = await linesOf('journal', { from: third, to: third })
  expect(late.some(({ day, time }) => day === third && time!.startsWith(second))).toBe(true)
  const next = await linesOf('statement', { from: second, to: third })
  expectStatement(
    'over both',
    next.filter((line) => keyOfAccount(line) === keyOfAccount(next[0]!)),
  )
  expect(await exported('journal', range)).toBe(before[0])

  const json = (await exported('journal', { ...range, format: 'jsonl' })).trim().split('\n')
  expect(json.map((line) => JSON.parse(line).transaction)).toEqual(
    journal.map(({ transaction }) => transaction),
  )
})

const keyOfAccount = ({ account, coin, chain }: Line) => `${account} ${coin} ${chain}`

/** Each day opens with what the day before closed with, and its movements make the difference. */
function expectStatement(account: string, lines: readonly Line[]): void {
  let balance: string | undefined
  for (const { type, amount, balance: shown } of lines) {
    if (type === 'movement') expect(atomic(shown!), account).toBe(atomic(balance!) + atomic(amount!))
    else if (balance !== undefined) expect(shown, account).toBe(balance)
    balance = shown
  }
}

it('property 258: a day is not final while a tx that began before its closing may still add to it', async () => {
  const tenant = worldOf(harness, await harness.newEntity())
  const { entityId } = tenant.tenant
  const atMs = firstMs + 3 * dayMs + 12 * hourMs
  const day = dayOf(atMs)
  let isReleased = false
  let isWritten: () => void = () => undefined
  const written = new Promise<void>((resolve) => (isWritten = resolve))
  const slow = harness.ctx.database.tx(async (tx) => {
    const entries = walletEntries('1000000000000001', 'USD', 5_000_000n)
    await post(tx, atMs, [{ entityId, blockchain: '', blockHash: '', fact: 'deposit:test', entries }])
    isWritten()
    // A session that does nothing would be ended.
    for (; !isReleased; await sleep(500)) await tx.run(sql`select 1`)
  })
  await written
  harness.clock.hold(firstMs + 4 * dayMs + hourMs)
  await until(async () => {
    return (await closedDays(harness.database))?.closedThrough === day
  }, 'the day is marked')
  const alarms = countAlarm('day-not-final')
  // Days that end meanwhile wait for this one.
  harness.clock.hold(firstMs + 5 * dayMs + hourMs)
  await until(async () => alarms() === 1, 'the alarm is raised')
  expect((await tenant.call('GET', '/operator/exports/days')).finalThrough).toBe(third)
  expect((await closedDays(harness.database))?.closedThrough).toBe(day)
  isReleased = true
  await slow
  await closed(dayOf(atMs + dayMs))
  expect(await linesOf('journal', { from: day, to: day }, tenant)).toHaveLength(2)
  expect(
    await linesOf('journal', { from: day, to: day }, worldOf(harness, await harness.newEntity())),
  ).toEqual([])
})

it('names what is wrong with a range', async () => {
  for (const [query, location, reason] of [
    [{ from: first, to: '2026-02-30' }, 'to', 'must be a day of the calendar'],
    [{ from: second, to: first }, 'to', 'must not be before from'],
    [{ from: '2020-01-01', to: '2020-04-05' }, 'to', 'within 95 days'],
    [{ from: first, to: '2999-01-01' }, 'to', 'within 95 days'],
    [{ from: 'yesterday', to: first }, 'from', ''],
    [{ from: first, to: first, format: 'xml' }, 'format', ''],
  ] as const) {
    const { status, body } = await world.tenant.http('GET', '/operator/exports/journal', { query })
    expect([status, body.errors[0].location, body.errors[0].message]).toEqual([
      400,
      location,
      expect.stringContaining(reason),
    ])
  }
})
