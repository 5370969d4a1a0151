/** The overview of an entity, compared with its accounts, with the chain and with the rows behind each need. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordAgreements } from '#engines/indexer/reconciliation/store'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { sql } from '#runtime/db/db'
import { makeGap } from '#testing/builders/operator-rows'
import { makeWebhookSubscription } from '#testing/builders/subscriptions'
import {
  freshAddress,
  makePayout,
  makeTransfer,
  makeWallet,
  type World,
  worldOf,
} from '#testing/builders/world'
import { atomicOf, type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { makeReview } from '#testing/requests/review-requests'

let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

const overview = (own = world, query = '') => own.call('GET', `/operator/overview?${query}`)

/** The sums of all accounts and of all open holds of an entity, row by row. */
async function bookedSums(entityId: string) {
  const coins = await harness.database.all<{ currency: string; blockchain: string; amount: bigint }>(sql`
    select t.currency, t.blockchain, sum(a.posted) as amount from accounts a join tokens t on t.id = a.token_id
    where a.entity_id = ${entityId} and a.kind = 'address' and t.currency is not null group by 1, 2 order by 1, 2`)
  const { held } = await harness.database.one<{ held: bigint }>(sql`select coalesce(sum(h.amount), 0) as held
    from holds h join accounts a on a.entity_id = h.entity_id and a.id = h.account_id
    left join tokens t on t.id = a.token_id
    where h.entity_id = ${entityId} and coalesce(t.currency, a.currency) = 'USD'
      and not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)
      and (a.kind = 'wallet' or exists (select 1 from transactions x
        where x.entity_id = h.entity_id and x.id = h.intent_id and x.wallet_id is not null))`)
  return { coins, held }
}

/** The last block of each chain that was compared with the books. */
const comparedBlocks = () =>
  harness.database.all<{ blockchain: string; number: number }>(
    sql`select blockchain, block_number as number from reconciliations where block_number >= 0`,
  )

it('property 184: shows the coins of all addresses by chain, and what is reserved, to the base unit', async () => {
  const [wallet, chain, other] = [await makeWallet(world), harness.chain(), harness.chain('ETH-SEPOLIA')]
  await harness.fundWallet(wallet.address, { usdc: '90071992547.409931', native: '1' })
  await world.money()
  const intent = await world.paymentIntent()
  await chain.send(intent.depositAddress, 1_234_567n, 'USDC')
  await chain.send(wallet.address, 2n, 'EURC')
  const { walletSet } = await world
    .call('GET', `/v1/w3s/wallets/${wallet.id}`)
    .then(async ({ wallet: shown }) => ({
      walletSet: shown.walletSetId,
    }))
  const { wallets } = await world.call('POST', '/v1/w3s/developer/wallets', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await world.tenant.sealSecret(),
    walletSetId: walletSet,
    blockchains: ['ETH-SEPOLIA'],
    count: 1,
  })
  await other.send(wallets[0].address, 7n, 'USDC')
  const { entityId } = world.tenant
  const isThere = async () => (await bookedSums(entityId)).coins.length === 3
  await until(isThere, 'all coins are booked')
  await world.payee()
  const { id: paidId } = await makeTransfer(world, '0.5')
  await until(
    async () => (await world.call('GET', `/v1/w3s/transactions/${paidId}`)).transaction.state === 'COMPLETE',
    'a transfer is complete',
  )
  await until(async () => (await comparedBlocks()).length === 2, 'both chains are compared')
  await harness.stopEngines()
  // These hold money: none is sent while no engine runs.
  await makeTransfer(world, '0.25')
  await makePayout(world)
  const { balances, proof } = await overview()
  const { coins, held } = await bookedSums(entityId)
  const shown = balances.flatMap(({ currency, byBlockchain }: { currency: string; byBlockchain: Part[] }) =>
    byBlockchain.map(({ blockchain, amount }) => ({ currency, blockchain, amount: atomicOf(amount, 6) })),
  )
  expect(shown).toEqual(coins)
  const [usd] = await overview(world, 'currency=USD').then((found) => found.balances)
  const sum = coins
    .filter(({ currency }) => currency === 'USD')
    .reduce((total, { amount }) => total + amount, 0n)
  expect([atomicOf(usd.amount, 6), atomicOf(usd.held, 6)]).toEqual([sum, held])
  expect(held).toBeGreaterThan(250_000n)
  expect(await overview(world, 'currency=EUR').then((found) => found.balances)).toMatchObject([
    { currency: 'EUR', amount: '0.000002', held: '0', byBlockchain: [{ blockchain: 'BASE-SEPOLIA' }] },
  ])
  // The chain says the same.
  const addresses = await harness.database.all<{ address: string }>(
    sql`select address from managed_addresses where entity_id = ${entityId} and blockchain = 'BASE-SEPOLIA'`,
  )
  const owned = await Promise.all(
    addresses.map(({ address }) => chain.oracle.balanceOf(address, chain.tokens.USDC)),
  )
  expect(
    coins.find(({ currency, blockchain }) => currency === 'USD' && blockchain === 'BASE-SEPOLIA')!.amount,
  ).toBe(owned.reduce((total, amount) => total + amount, 0n))
  expect(proof.blockNumberByBlockchain).toEqual(
    Object.fromEntries((await comparedBlocks()).map(({ blockchain, number }) => [blockchain, number])),
  )
  expect(proof).toMatchObject({ gapCount: 0, comparedDate: expect.any(String) })
  const stranger = worldOf(harness, await harness.newEntity())
  expect(await overview(stranger)).toMatchObject({ balances: [], needs: [], webhooks: { delivered: 0 } })
})

type Part = { blockchain: string; amount: string }
type Shown = {
  kind: string
  severity: string
  text: string
  movementId?: string
  subscriptionId?: string
  sinceDate: string
}

it('names what needs somebody, the worst first, and drops it when it is over', async () => {
  await harness.stopEngines()
  const { database, ctx } = harness
  const { entityId } = world.tenant
  const needsOf = async (own = world): Promise<Shown[]> => (await overview(own)).needs
  const stuck = await makeTransfer(world)
  await database.run(sql`update transactions set state = 'STUCK' where id = ${stuck.id}`)
  const review = await makeReview(world)
  const payout = await makePayout(world)
  await database.run(sql`update payouts set waiting = '{"reason": "gas_missing"}' where id = ${payout.id}`)
  const moving = await makePayout(world)
  await database.run(
    sql`update payouts set waiting = '{"reason": "coins_moving", "from": "ETH"}' where id = ${moving.id}`,
  )
  const failing = await makeWebhookSubscription(world, 'failing?key=secret')
  const disabled = await makeWebhookSubscription(world, 'disabled')
  const since = formatInstant(ctx.clock.nowMs() - 60_000)
  await database.run(sql`update notification_subscriptions set failing_since = ${since}, failure_count = 3
    where id in (${failing.id}, ${disabled.id})`)
  await database.run(sql`update notification_subscriptions set enabled = false where id = ${disabled.id}`)
  const { address } = await makeGap(world, freshAddress(), 9_000_003n)
  const needs = await needsOf()
  const about = ({ kind, severity, movementId, subscriptionId }: Shown) => [
    kind,
    severity,
    movementId ?? subscriptionId,
  ]
  expect(needs.map(about).filter(([, severity]) => severity === 'bad')).toEqual(
    expect.arrayContaining([
      ['openGap', 'bad', undefined],
      ['disabledSubscription', 'bad', disabled.id],
    ]),
  )
  expect(needs.map(about)).toEqual(
    expect.arrayContaining([
      ['stuckTransaction', 'warn', stuck.id],
      ['pendingReview', 'warn', review.id],
      ['heldDisbursement', 'warn', payout.id],
      ['failingSubscription', 'warn', failing.id],
      ['heldDisbursement', 'info', moving.id],
    ]),
  )
  expect(needs).toHaveLength(7)
  const order = ['bad', 'warn', 'info']
  const ranks = needs.map(({ severity }) => order.indexOf(severity))
  expect(ranks).toEqual([...ranks].sort())
  expect(needs.map(({ text }) => text).join(' ')).not.toContain('secret')
  expect(needs.find(({ kind }) => kind === 'openGap')!.text).toContain(
    `${address} on BASE-SEPOLIA differs from the books by 9`,
  )
  expect((await overview()).proof.gapCount).toBe(1)
  // Ids of movements lead to their movements.
  for (const { movementId } of needs)
    if (movementId !== undefined) await world.call('GET', `/operator/movements/${movementId}`)
  const { blockchain } = harness.chain()
  const equal = { entityId, address, tokenId: world.usdcId, bookedAtomic: 3n, onChainAtomic: 3n }
  await recordAgreements(database, ctx.clock.nowMs(), blockchain, { number: 2, hash: '0x2' }, [equal])
  await database.run(sql`update transactions set state = 'SENT' where id = ${stuck.id}`)
  await database.run(
    sql`update payouts set submitted = true, waiting = null where id in (${payout.id}, ${moving.id})`,
  )
  await world.call('POST', `/operator/reviews/${review.id}/deny`, { reason: 'not known' })
  await world.call('DELETE', `/v2/notifications/subscriptions/${failing.id}`)
  await world.call('PATCH', `/v2/notifications/subscriptions/${disabled.id}`, {
    name: 'again',
    enabled: true,
  })
  expect(await needsOf()).toEqual([])
  expect((await overview()).proof.gapCount).toBe(0)
})

it('counts the webhooks of a day, and how they were taken', async () => {
  const own = worldOf(harness, await harness.newEntity())
  const { id: subscriptionId } = await makeWebhookSubscription(own, 'counted')
  const { entityId } = own.tenant
  const nowMs = harness.ctx.clock.nowMs()
  /** A notification and its attempts: `null` for one that was not taken. */
  const notify = async (attempts: (number | null)[], state: string, atMs = nowMs) => {
    const [id, at] = [newId(atMs), formatInstant(atMs)]
    await harness.database.run(sql`insert into notifications (entity_id, id, line, topic, resource_id, message, create_date)
      values (${entityId}, ${id}, 'v2', 'transactions.inbound', ${id}, '{}', ${at})`)
    await harness.database.run(sql`insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id,
        state, attempt_count, due_date, create_date, update_date)
      values (${entityId}, ${subscriptionId}, ${id}, ${id}, ${state}, ${attempts.length}, ${at}, ${at}, ${at})`)
    for (const [index, ms] of attempts.entries())
      await harness.database.run(sql`insert into notification_attempts (entity_id, subscription_id, message_id, number, status,
          duration_ms, create_date)
        values (${entityId}, ${subscriptionId}, ${id}, ${index + 1}, ${ms === null ? 503 : 204}, ${ms ?? 9_999}, ${at})`)
  }
  for (const ms of [10, 20, 30, 40, 50, 60, 70]) await notify([ms], 'delivered')
  await notify([null, null, 80], 'delivered')
  // A notification that was sent again counts by its first answer.
  await notify([5, 700], 'delivered')
  await notify([null, null], 'failed')
  await notify([null], 'waiting')
  await notify([1], 'delivered', nowMs - 90_000_000)
  expect((await overview(own)).webhooks).toEqual({ delivered: 9, firstTryShare: 8 / 9, p50Ms: 40, p99Ms: 80 })
  const { status, body } = await own.tenant.http('GET', '/operator/overview?currency=XYZ')
  expect([status, body.errors[0].location]).toEqual([400, 'currency'])
  expect(body.message).toContain('EUR')
})
