/** The flow of money over time, compared with the books, the chain and what the test moved. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { freshAddress, makeWallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

type Point = { date: string; in: string; out: string; count: number }
type Flow = { currency: string; bucket: string; points: Point[] }

const minuteMs = 60_000
const flow = (query = '', own = world): Promise<Flow> => own.call('GET', `/operator/flow?${query}`)
const moved = ({ points }: Flow) =>
  points.filter(({ count, ...point }) => count !== 0 || point.in !== '0' || point.out !== '0')

/** Atomic units of an amount with at most six decimals, below zero too. */
function atomic(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const digits = BigInt(whole + fraction.padEnd(6, '0'))
  return amount.startsWith('-') ? -digits : digits
}
const totalOf = ({ points }: Flow, way: 'in' | 'out') =>
  points.reduce((sum, point) => sum + atomic(point[way]), 0n)

/** Waits until all that is booked is in the flow. */
const counted = () =>
  until(
    async () => (await harness.database.all(sql`select 1 from uncounted_flow`)).length === 0,
    'all transfers are counted',
  )

/** The flow of an entity by the books: each transfer as it is booked, without those that were reversed and the internal ones. */
async function bookedFlow(entityId: string, currency: string) {
  const rows = await harness.database.all<{ amount: bigint; hash: string; place: string }>(sql`
    select -e.amount as amount, p.block_hash as hash, regexp_replace(p.fact, ':(in|out):', ':') as place
    from postings p join entries e on e.entity_id = p.entity_id and e.posting_id = p.id
    join accounts a on a.entity_id = e.entity_id and a.id = e.account_id and a.kind = 'outside'
    join tokens t on t.id = a.token_id and t.currency = ${currency}
    where p.entity_id = ${entityId} and p.reverses_id is null
      and not exists (select 1 from postings r where r.entity_id = p.entity_id and r.reverses_id = p.id)`)
  const placeOf = ({ hash, place }: (typeof rows)[number]) => `${hash} ${place}`
  const sides = rows.map(placeOf)
  const outer = rows
    .filter((row) => sides.filter((side) => side === placeOf(row)).length === 1)
    .map(({ amount }) => amount)
  const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  return {
    in: sum(outer.filter((amount) => amount > 0n)),
    out: -sum(outer.filter((amount) => amount < 0n)),
    count: outer.length,
  }
}

const transferTo = async (
  destinationAddress: string,
  wallet: { id: string },
  amount: string,
  own = world,
) => {
  const { id } = await own.call('POST', '/v1/w3s/developer/transactions/transfer', {
    idempotencyKey: crypto.randomUUID(),
    entitySecretCiphertext: await own.tenant.sealSecret(),
    walletId: wallet.id,
    tokenId: own.usdcId,
    destinationAddress,
    amounts: [amount],
    feeLevel: 'MEDIUM',
  })
  await until(
    async () => (await own.call('GET', `/v1/w3s/transactions/${id}`)).transaction.state === 'COMPLETE',
    'the transfer is complete',
  )
}

it('has what came in and went out, and no moves between own addresses', async () => {
  const wallet = await makeWallet(world)
  const other = await makeWallet(world)
  const chain = harness.chain()
  await harness.fundWallet(wallet.address, { usdc: '3.000001', native: '1' })
  await chain.send(wallet.address, 2_000_000n, 'EURC')
  await until(
    async () => (await world.call('GET', `/v1/w3s/wallets/${wallet.id}/balances`)).tokenBalances.length >= 3,
    'the money is there',
  )
  await transferTo(other.address, wallet, '1')
  await transferTo(freshAddress(), wallet, '0.25')
  await counted()
  const usd = await flow()
  expect([usd.currency, usd.bucket, usd.points.length]).toEqual(['USD', 'PT30M', 49])
  expect([totalOf(usd, 'in'), totalOf(usd, 'out')]).toEqual([3_000_001n, 250_000n])
  const booked = await bookedFlow(world.tenant.entityId, 'USD')
  expect(booked).toEqual({ in: 3_000_001n, out: 250_000n, count: 2 })
  const owned = await Promise.all(
    [wallet, other].map(({ address }) => chain.oracle.balanceOf(address, chain.tokens.USDC)),
  )
  expect(totalOf(usd, 'in') - totalOf(usd, 'out')).toBe(owned[0]! + owned[1]!)
  const eur = await flow('currency=EUR&bucket=P1D')
  expect(moved(eur)).toMatchObject([{ in: '2', out: '0', count: 1 }])
  // Wider buckets have the same sums.
  for (const bucket of ['PT5M', 'PT35M', 'PT90M', 'P1D']) {
    const wider = await flow(`bucket=${bucket}`)
    expect([bucket, totalOf(wider, 'in'), totalOf(wider, 'out')]).toEqual([bucket, 3_000_001n, 250_000n])
  }
  const stranger = worldOf(harness, await harness.newEntity())
  expect(moved(await flow('', stranger))).toEqual([])
})

it('property 183: a reorg takes money from the bucket that had it, by business time', async () => {
  const chain = harness.chain()
  const own = worldOf(harness, await harness.newEntity())
  const wallet = await makeWallet(own)
  const startMs = Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 5 * 3_600_000
  const range = `bucket=PT5M&from=${new Date(startMs).toISOString()}&to=${new Date(startMs + 19 * minuteMs).toISOString()}`
  harness.clock.hold(startMs)
  await harness.fundWallet(wallet.address, { usdc: '5' })
  await chain.mine(3)
  const isBooked = (amount: string) => async () =>
    (await own.call('GET', `/operator/accounts?address=${wallet.address}&tokenId=${own.usdcId}`))[0]
      ?.posted === amount
  await until(isBooked('5'), 'the payment is booked')
  harness.clock.hold(startMs + 6 * minuteMs)
  const hash = await chain.send(wallet.address, 7_000_000n, 'USDC')
  await until(isBooked('12'), 'the second payment is booked')
  await counted()
  expect(await flow(range, own)).toMatchObject({
    points: [
      { in: '5', out: '0', count: 1 },
      { in: '7', out: '0', count: 1 },
      { in: '0', count: 0 },
      { in: '0', count: 0 },
    ],
  })
  harness.clock.hold(startMs + 12 * minuteMs)
  const { blockNumber } = await chain.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', [hash])
  await chain.reorgFrom(Number(blockNumber))
  await until(isBooked('5'), 'the second payment is taken back')
  await chain.send(wallet.address, 1n, 'USDC')
  await until(isBooked('5.000001'), 'another payment is booked')
  await counted()
  const after = await flow(range, own)
  expect(after.points.map((point) => [point.in, point.count])).toEqual([
    ['5', 1],
    ['0', 0],
    ['0.000001', 1],
    ['0', 0],
  ])
  expect(await bookedFlow(own.tenant.entityId, 'USD')).toEqual({ in: 5_000_001n, out: 0n, count: 2 })
  harness.clock.release()
})

it('refuses ranges and buckets that it cannot show, and says which it can', async () => {
  const ask = (query: string) => harness.http('GET', `/operator/flow?${query}`)
  const cases: [string, string, string][] = [
    ['currency=GBP', 'currency', 'USD'],
    ['currency=usd', 'currency', 'USD'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from', 'earlier'],
    ['from=yesterday', 'from', 'RFC 3339'],
    ['from=0001-01-01T00:00:00Z', 'from', '1970'],
    ['to=0001-01-01T00:00:00Z', 'to', '1970'],
    ['bucket=PT7M', 'bucket', 'five minutes'],
    ['bucket=PT0M', 'bucket', 'five minutes'],
    ['bucket=PT1M', 'bucket', 'five minutes'],
    ['bucket=-PT5M', 'bucket', 'duration'],
    ['bucket=P', 'bucket', 'duration'],
    ['bucket=P1DT', 'bucket', 'duration'],
    ['bucket=1800', 'bucket', 'duration'],
    ['bucket=PT99999999999999999M', 'bucket', 'duration'],
    ['bucket=P2D', 'bucket', 'P1D'],
    ['bucket=P999DT9999H', 'bucket', 'P1D'],
    ['from=2026-01-01T00:00:00Z&to=2026-01-10T00:00:00Z&bucket=PT5M', 'bucket', 'PT35M'],
    ['from=2026-01-01T00:00:00Z&to=2027-02-05T00:00:00Z&bucket=P1D', 'bucket', '399 days'],
    ['from=1970-01-01T00:00:00Z&to=9999-12-31T23:59:59.999Z', 'bucket', '399 days'],
  ]
  for (const [query, location, hint] of cases) {
    const { status, body } = await ask(query)
    expect([query, status, body.errors?.[0]?.location]).toEqual([query, 400, location])
    expect(body.message).toContain(hint)
  }
  // The width that the refusal names is accepted, and the one below it is not.
  const range = 'from=2026-01-01T00:00:00Z&to=2026-01-10T00:00:00Z'
  const fits = await ask(`${range}&bucket=PT35M`)
  expect([fits.status, fits.body.data.points.length]).toEqual([200, 371])
  expect((await ask(`${range}&bucket=PT30M`)).status).toBe(400)
  const last = await ask('to=9999-12-31T23:59:59.999Z&bucket=P1D')
  expect([last.status, last.body.data.points.at(-1).date]).toEqual([200, '9999-12-31T00:00:00.000Z'])
  expect((await ask('from=1970-01-01T00:00:00Z&to=1970-01-01T00:00:00Z')).body.data.points).toHaveLength(1)
})
