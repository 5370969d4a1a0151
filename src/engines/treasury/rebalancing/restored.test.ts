/**
 * An older copy of the database replaces it while coins of a treasury are on their way to another chain. Wherever its worker dies,
 * the coins are burned once and minted once, on the chains and in the books.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Database, openDatabase, sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { sandboxEntity } from '#sandbox/credentials'
import { seededRandom } from '#testing/adversary/seeded-random'
import { checkLedger } from '#testing/builders/ledger-checks'
import { freshAddress } from '#testing/builders/world'
import { type Clone, urlOf } from '#testing/databases/database-clone'
import { cleanUp, copyOf, openTwoMachines } from '#testing/databases/restored-database'
import { testRootKey } from '#testing/databases/template'
import type { TestChain } from '#testing/platform/chain'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { drawn } from '#testing/runner/drawn'
import { proveMoney } from '../reconciliation/index.ts'

const roles = ['transactions', 'treasury', 'attestation', 'reviews'] as const
const unit = 1_000_000n
const fundedAtomic = 100n * unit

/** The allowance is sent first, then the burn, the mint and the payout; each is journaled before. */
const deaths: readonly { stage: string; point: Failpoint; hit: number }[] = [
  { stage: 'the shortage is recorded', point: 'after-rebalancing-commit', hit: 1 },
  { stage: 'the allowance is journaled', point: 'before-send', hit: 1 },
  { stage: 'the allowance is sent', point: 'before-send-record', hit: 1 },
  { stage: 'the burn is recorded', point: 'after-rebalancing-commit', hit: 3 },
  { stage: 'the burn is journaled', point: 'before-send', hit: 2 },
  { stage: 'the burn is sent', point: 'before-send-record', hit: 2 },
  { stage: 'the coins are burned', point: 'before-message-commit', hit: 1 },
  { stage: 'the coins are attested', point: 'after-message-commit', hit: 1 },
  { stage: 'the mint is recorded', point: 'after-mint-commit', hit: 1 },
  { stage: 'the mint is journaled', point: 'before-send', hit: 3 },
  { stage: 'the mint is sent', point: 'before-send-record', hit: 3 },
  { stage: 'the payout is journaled', point: 'before-send', hit: 4 },
  { stage: 'the payout is sent', point: 'before-send-record', hit: 4 },
]
/** The copy has the payout, which lacks its coins there, or was made before it was accepted. */
const cases = deaths.flatMap((death) =>
  (['the copy has the payout', 'the copy has no payout'] as const).map((copied) => ({ ...death, copied })),
)

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

type Site = Awaited<ReturnType<typeof openTwoMachines>>
let site: Site
let base: TestChain
let ethereum: TestChain
let current: Clone
let tenant: Tenant

async function call(method: string, path: string, body?: object): Promise<Shown> {
  const answer = await tenant.http(method, path, body ? { body } : {})
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
  return answer.body.data
}

const made = (path: string, fields: object) => call('POST', path, { idempotencyKey: randomUUID(), ...fields })

async function makePayee(): Promise<{ id: string; address: string }> {
  const address = freshAddress()
  const { id } = await made('/v1/addressBook/recipients', {
    chain: 'BASE',
    address,
    metadata: { nickname: 'Ada', email: 'ada@example.com' },
  })
  await until(
    async () => (await call('GET', `/v1/addressBook/recipients/${id}`)).status === 'active',
    'the recipient may be paid',
  )
  return { id, address }
}

const payees: { id: string; address: string }[] = []
const chosen = drawn(cases, 2)

const orderTo = ({ id }: { id: string }) => ({
  idempotencyKey: randomUUID(),
  destination: { type: 'address_book', id },
  amount: { amount: '1', currency: 'USD' },
})

const pay = async (order: object): Promise<string> => (await call('POST', '/v1/payouts', order)).id

const isComplete = async (id: string) => (await call('GET', `/v1/payouts/${id}`)).status === 'complete'

async function withDatabase<Read>(clone: Clone, read: (database: Database) => Promise<Read>): Promise<Read> {
  const database = openDatabase(clone.connection, 2)
  try {
    return await read(database)
  } finally {
    await database.close()
  }
}

type Row = { id: string; status: string; amount: bigint }
const rowsIn = (database: Database) =>
  database.all<Row>(sql`select id, status, amount from rebalancings order by create_date, id`)

const treasuryCoins = async (database: Database, { blockchain, oracle, tokens }: TestChain) => {
  const { address } = await database.one<{ address: string }>(
    sql`select address from treasuries where blockchain = ${blockchain}`,
  )
  return oracle.balanceOf(address, tokens.USDC)
}

/** Every coin of the merchant is explained, and none is on its way. */
const allArrived = (database: Database) =>
  until(async () => {
    const { totals, gaps } = await proveMoney(database)
    return gaps.length === 0 && totals.every(({ moving }) => moving === 0n)
  }, 'every coin has arrived')

/** Waits until the engine of messages has followed every block of both chains; others follow meanwhile, unless they wait. */
async function allFollowed(database: Database): Promise<void> {
  for (const { blockchain, height } of [base, ethereum]) {
    const number = await height()
    const followed = sql`select 1 from block_steps s join step_cursors c on c.blockchain = s.blockchain and c.step >= s.step
      where c.engine = 'attestation' and s.blockchain = ${blockchain} and s.block_number >= ${number}`
    await until(async () => (await database.maybe(followed)) !== undefined, `${blockchain} is followed`)
  }
}

beforeAll(async () => {
  site = await openTwoMachines(seededRandom(1), { automine: true, others: ['ETH-SEPOLIA'] })
  ;[base, ethereum] = site.chains as [TestChain, TestChain]
  current = await copyOf('seeded')
  tenant = await site.front(current)
  for (const machine of ['one', 'two']) await site.open(current, machine, { roles })
  const allowed = await runCommand({
    command: 'rebalancing',
    args: ['allow', '--max', '1000', '--reserve', '0', '--entity', sandboxEntity.id],
    env: {
      DATABASE_URL: urlOf(current.connection),
      BEZANT_ROOT_KEY: testRootKey.toString('hex'),
      BEZANT_NETWORKS: JSON.stringify(site.chains.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl }))),
      BEZANT_CROSSCHAIN_ENVIRONMENT: 'TEST',
    },
  })
  expect(allowed.code, allowed.stderr).toBe(0)
  const intent = await made('/v1/paymentIntents', {
    currency: 'USD',
    settlementCurrency: 'USD',
    type: 'continuous',
    paymentMethods: [{ type: 'blockchain', chain: 'ETH' }],
  })
  const shown = () => call('GET', `/v1/paymentIntents/${intent.id}`)
  await until(async () => (await shown()).paymentMethods?.[0]?.address !== undefined, 'it has its address')
  await ethereum.send((await shown()).paymentMethods[0].address, fundedAtomic, 'USDC')
  await until(async () => (await shown()).amountPaid.amount !== '0.00', 'the money is credited')
  for (const _ of [undefined, ...chosen]) payees.push(await makePayee())
  // The first moves all coins from their deposit address to the treasury, and gas to both treasuries.
  const first = await pay(orderTo(payees.pop()!))
  await until(() => isComplete(first), 'the first payout is complete')
  await withDatabase(current, allArrived)
  await site.closeWorkers()
})
afterAll(cleanUp)

it.each(chosen)(
  'property 162: restored from before, coins are moved once: $stage, $copied',
  async ({ point, hit, copied }) => {
    const payee = payees.pop()!
    const order = orderTo(payee)
    const isCopied = copied === 'the copy has the payout'
    if (isCopied) await pay(order)
    const hadAtomic = await withDatabase(current, (database) => treasuryCoins(database, ethereum))
    await site.closeAll()
    const restored = await copyOf(current.name)

    tenant = await site.front(current)
    const doomed = await site.open(current, 'two', { roles, failpoint: { point, hit, action: 'kill' } })
    if (!isCopied) await pay(order)
    await doomed.exited
    await site.killAll()
    const before = await withDatabase(restored, rowsIn)
    const lost = (await withDatabase(current, rowsIn)).at(-1)!
    // Also for the next case if this one fails: the chains go on with the restored database.
    current = restored

    tenant = await site.front(restored)
    if (!isCopied) await pay(order)
    await site.open(restored, 'one', { roles })
    // Its own journal lacks them: the chains show burns and mints that this database does not know yet.
    for (const chain of [base, ethereum]) await chain.mine()
    await withDatabase(restored, allFollowed)
    await site.open(restored, 'two', { roles })
    await until(async () => isComplete(await pay(order)), 'the payout is complete')
    await withDatabase(restored, async (database) => {
      await allArrived(database)
      const rows = await rowsIn(database)
      expect(rows).toHaveLength(before.length + 1)
      const last = rows.at(-1)!
      expect(last).toMatchObject({ status: 'complete', amount: unit })
      // Before its allowance is sent, no journal has it.
      const isJournaled = !(point === 'after-rebalancing-commit' && hit === 1)
      if (isJournaled) expect(last.id).toBe(lost.id)
      const { sent } = await database.one<{ sent: number }>(
        sql`select count(*)::integer as sent from transactions where ref_id = ${`rebalancing ${last.id}`}`,
      )
      expect(sent).toBe(3)
      expect(await base.oracle.balanceOf(payee.address, base.tokens.USDC)).toBe(unit)
      expect(hadAtomic - (await treasuryCoins(database, ethereum))).toBe(unit)
      expect(await treasuryCoins(database, base)).toBe(0n)
      await checkLedger(database)
    })
    await site.closeWorkers()
  },
)
