import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { raw, sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  freshAddress,
  makeActiveAddress,
  makeActiveRecipient,
  makeBusinessTransfer,
  makePaymentIntent,
  makePayout,
  type PaymentIntent,
  type World,
  worldOf,
} from '#testing/builders/world'
import { isOneServer } from '#testing/databases/one-server'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep, sizeOf } from '#testing/runner/size'
import { proveMoney } from './money-proof.ts'
import { moneySums } from './store/money-proof.ts'

/** The chain with reorgs has a late finality, as a real one does: a payment stays paid. */
const chains = ['BASE', 'ETH'] as const
const blockchainOf = { BASE: 'BASE-SEPOLIA', ETH: 'ETH-SEPOLIA' } as const
const rewritten = isDeep ? 'BASE-SEPOLIA' : 'ETH-SEPOLIA'
const reorgMax = 6
const rounds = sizeOf('BUSY_ROUNDS', { usual: 9, deep: 1_000 })
/** Pause between checks, which use the database's time that all other work needs. */
const betweenLooksMs = isDeep ? 0 : 400

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({
    blockchains: Object.values(blockchainOf),
    node: async ({ blockchain }) => ({ local: blockchain !== rewritten }),
  })
})
afterAll(() => harness.close())

type Chosen = (typeof chains)[number]
type Merchant = {
  world: World
  /** Payment intents by chain. */
  intents: Record<Chosen, PaymentIntent>
  payees: string[]
  ownAddresses: string[]
}

const pick = <Item>(list: readonly Item[]): Item => list[randomInt(list.length)]!
const byChain = async <Made>(make: (chain: Chosen) => Promise<Made>) =>
  Object.fromEntries(await Promise.all(chains.map(async (chain) => [chain, await make(chain)]))) as Record<
    Chosen,
    Made
  >
const idOf = async (made: Promise<{ id: string }>) => (await made).id

/** Two merchants that pay strangers, their own addresses elsewhere, and the deposit addresses of the other. */
async function openMerchants(): Promise<Merchant[]> {
  const worlds = [worldOf(harness), worldOf(harness, await harness.newEntity())]
  const intents = await Promise.all(
    worlds.map((world) => byChain((chain) => makePaymentIntent(world, chain))),
  )
  return Promise.all(
    worlds.map(async (world, index) => {
      const other = intents[1 - index]!
      const payees = chains.flatMap((chain) =>
        [freshAddress(), other[chain].depositAddress].map((address) =>
          idOf(makeActiveRecipient(world, { chain, address })),
        ),
      )
      const own = chains.map((chain) => idOf(makeActiveAddress(world, { chain })))
      return {
        world,
        intents: intents[index]!,
        payees: await Promise.all(payees),
        ownAddresses: await Promise.all(own),
      }
    }),
  )
}

const amount = () => `0.${String(randomInt(1, 999_999)).padStart(6, '0')}`
const usd = () => ({ amount: amount(), currency: 'USD' })

/** Possible next actions. A merchant with too little money gets an error, which is fine. */
const happenings: ((merchant: Merchant) => Promise<unknown>)[] = [
  ({ intents }) => deposit(intents),
  ({ intents }) => deposit(intents),
  ({ world, payees }) =>
    makePayout(world, { destination: { type: 'address_book', id: pick(payees) }, amount: usd() }),
  ({ world, payees }) =>
    makePayout(world, { destination: { type: 'address_book', id: pick(payees) }, amount: usd() }),
  ({ world, ownAddresses }) =>
    makeBusinessTransfer(world, {
      destination: { type: 'verified_blockchain', addressId: pick(ownAddresses) },
      amount: usd(),
    }),
  ({ world, intents }) => {
    const chain = pick(chains)
    return world.call('POST', `/v1/paymentIntents/${intents[chain].id}/refund`, {
      idempotencyKey: randomUUID(),
      destination: { address: freshAddress(), chain },
      amount: { currency: 'USD' },
      toAmount: usd(),
    })
  },
  () => harness.chain(rewritten).reorg(randomInt(1, reorgMax)),
  () => harness.chain(rewritten).mine(randomInt(1, 4)),
  async () => {
    for (const { address, blockchain } of await treasuries())
      await harness.chain(blockchain).send(address, BigInt(randomInt(1, 1_000)), 'USDC')
  },
]

/** Returns the actions equally often, in another order each time. */
function happening(round: number): (typeof happenings)[number] {
  if (round % happenings.length === 0) due = [...happenings]
  return due.splice(randomInt(due.length), 1)[0]!
}
let due: (typeof happenings)[number][] = []

const deposit = (intents: Merchant['intents']) => {
  const chain = pick(chains)
  return harness
    .chain(blockchainOf[chain])
    .send(intents[chain].depositAddress, BigInt(randomInt(1, 5_000_000)), 'USDC')
}

const treasuries = () =>
  harness.database.all<{ address: string; blockchain: string }>(
    sql`select address, blockchain from treasuries`,
  )

/** Mines more blocks, once earlier ones were followed: more would only add work. */
async function mineMore(): Promise<void> {
  const height = await harness.chain(rewritten).height()
  const { number, behind } = await harness.database.one<{ number: number; behind: number }>(sql`select
    (select max(number) from blocks where blockchain = ${rewritten} and canonical) as number,
    (select count(*) from step_cursors c where c.blockchain = ${rewritten} and c.step
      < (select max(step) from block_steps s where s.blockchain = c.blockchain)) as behind`)
  if (number !== height || behind > 0) return
  // A real node keeps reorged transactions in its pool; this one drops them, so leases of attempts and backoffs of disbursements
  // end now, not in a minute.
  await harness.database.run(sql`update attempts set lease_until = now() where state = 'sent'`)
  for (const table of ['payouts', 'transfers', 'payments'])
    await harness.database.run(
      sql`update ${raw(table)} set next_attempt_at = now() where status = 'pending' and not submitted`,
    )
  await harness.chain(rewritten).mine(12)
}

/** Sends gas to the treasuries, which only their owner does on a chain that is not the sandbox's. */
async function giveGas(merchants: readonly Merchant[]): Promise<void> {
  const made = async () => (await treasuries()).filter(({ blockchain }) => blockchain === rewritten)
  await until(async () => {
    await mineMore()
    return (await made()).length === merchants.length
  }, 'the treasuries are there')
  for (const { address } of await made()) await harness.chain(rewritten).send(address, 10n ** 19n)
  // Deeper than any reorg.
  await harness.chain(rewritten).mine(reorgMax)
}

/** A statement sees one moment of one server; of several, a difference counts that the next look has, too. */
const look = isOneServer ? moneySums : proveMoney

it('property 9: the coins equal the money of merchants at every moment of a busy day', async () => {
  const merchants = await openMerchants()
  for (const { intents } of merchants)
    for (const chain of chains)
      await harness.chain(blockchainOf[chain]).send(intents[chain].depositAddress, 50_000_000n, 'USDC')
  for (const { world } of merchants)
    await until(async () => {
      await mineMore()
      const { available } = await world.call('GET', '/v1/businessAccount/balances')
      return available[0]?.amount === '100.00'
    }, 'there is money to begin with')
  for (const { world, payees } of merchants)
    for (const id of payees)
      await makePayout(world, { destination: { type: 'address_book', id }, amount: usd() })
  await giveGas(merchants)

  const seen = { looks: 0, arriving: 0, leaving: 0, unclaimed: 0 }
  let stopped = false
  const watching = (async () => {
    while (!stopped) {
      const { totals, gaps } = await look(harness.database)
      expect(gaps).toEqual([])
      seen.looks += 1
      for (const name of ['arriving', 'leaving', 'unclaimed'] as const)
        if (totals.some((sums) => sums[name] !== 0n)) seen[name] += 1
      await sleep(betweenLooksMs)
    }
  })()
  const refused: string[] = []
  try {
    for (let round = 0; round < rounds; round++)
      await Promise.race([
        watching,
        happening(round)(pick(merchants)).catch((error: Error) => void refused.push(error.message)),
      ])
    // Money owed on one chain that lies on another is given up after a day.
    harness.clock.moveMs(25 * 3_600_000)
    await Promise.race([watching, settled()])
  } finally {
    stopped = true
  }
  await watching

  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
  // Refused for too little money, or for a refund before its payment is final.
  expect(refused.filter((message) => !message.includes(': 400 {'))).toEqual([])
  const { totals } = await moneySums(harness.database)
  expect(totals).toMatchObject([{ currency: 'USD', arriving: 0n, leaving: 0n, gap: 0n }])
  expect(totals[0]!.owed + totals[0]!.unclaimed).toBe(await coinsOnChain())
  for (const chain of harness.ctx.chains.list())
    expect((await reconcile(harness.ctx, chain)).gaps).toEqual([])
  await checkLedger(harness.database)
})

/** Waits until every request has ended, and every deposit is credited or lost. */
const settled = () =>
  until(async () => {
    await mineMore()
    const { totals } = await moneySums(harness.database)
    const row = await harness.database.one<{ open: number }>(sql`select
        (select count(*) from payouts where status = 'pending') + (select count(*) from sweeps where status = 'pending')
        + (select count(*) from transfers where status in ('pending', 'running'))
        + (select count(*) from payments where status in ('pending', 'confirmed')) as open`)
    return row.open === 0 && totals.every(({ arriving, leaving }) => arriving === 0n && leaving === 0n)
  }, 'everything has ended')

async function coinsOnChain(): Promise<bigint> {
  const places = await harness.database.all<{ blockchain: string; address: string }>(
    sql`select blockchain, address from managed_addresses where purpose in ('deposit', 'treasury')`,
  )
  let sum = 0n
  for (const { blockchain, address } of places) {
    const { oracle, tokens } = harness.chain(blockchain)
    sum += await oracle.balanceOf(address, tokens.USDC)
  }
  return sum
}
