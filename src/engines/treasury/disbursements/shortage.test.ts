import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freeze, unfreeze } from '#custody/freezes/index'
import { setPolicy } from '#custody/policy/index'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveRecipient,
  makePayout,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness)
})
afterAll(() => harness.close())

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

const payoutOf = (id: string): Promise<Shown> => world.call('GET', `/v1/payouts/${id}`)
const ended = async (id: string): Promise<Shown> => {
  let payout: Shown
  await until(async () => (payout = await payoutOf(id)).status !== 'pending', 'the payout has ended')
  return payout
}
const available = async () =>
  (await world.call('GET', '/v1/businessAccount/balances')).available[0]?.amount as string
const usd = (amount: string) => ({ amount, currency: 'USD' })
const operator = () => ({ ...harness.ctx, actor: 'operator' })

it('a payout whose coins are on another chain waits, then fails with its reason, and its money is available again', async () => {
  await fundMerchantWallet(world, 5_000_000n, 'ETH')
  const { id } = await makePayout(world, { amount: usd('5') })
  expect(await available()).toBe('0.00')
  await until(async () => (await payoutOf(id)).waitingFor !== undefined, 'it says what it waits for')
  harness.clock.moveMs(86_401_000)
  expect(await ended(id)).toMatchObject({ status: 'failed', errorCode: 'insufficient_funds' })
  expect(await available()).toBe('5.00')
  await checkLedger(harness.database)
})

it('a payout that lacks coins waits until a payment brings them', async () => {
  const { id } = await makePayout(world, { amount: usd('4') })
  await fundMerchantWallet(world, 4_000_000n)
  const payout = await ended(id)
  expect(payout).toMatchObject({ status: 'complete' })
  const sweeps = await harness.database.all<{ status: string; amount: bigint }>(
    sql`select status, amount from sweeps`,
  )
  expect(sweeps).toHaveLength(1)
  expect(sweeps[0]!.amount).toBe(4_000_000n)
})

it('a payout that policy forbids is denied, and a payout of a frozen entity waits until it is unfrozen', async () => {
  const { entityId } = harness
  const subject = { entityId, scope: 'entity' as const, subjectId: entityId }
  const address = freshAddress()
  const recipient = await makeActiveRecipient(world, { address })
  const destination = { type: 'address_book', id: recipient.id }
  await fundMerchantWallet(world, 2_000_000n)
  await freeze(operator(), { entityId })
  const { id } = await makePayout(world, { destination, amount: usd('1') })
  // Enough time for a payment to be made twice, were it not for the freeze.
  await harness.chain().mine(5)
  await sleep(1_500)
  expect((await payoutOf(id)).status).toBe('pending')
  expect(await harness.chain().oracle.transfers({ to: address })).toEqual([])
  await unfreeze(operator(), { entityId })
  expect((await ended(id)).status).toBe('complete')
  await setPolicy(operator(), subject, { mode: 'rules', operations: ['signMessage'] })
  const denied = await makePayout(world, { destination, amount: usd('1') })
  expect(await ended(denied.id)).toMatchObject({
    status: 'failed',
    errorCode: 'transaction_denied',
    riskEvaluation: { decision: 'denied', reason: '3000' },
  })
  const { oracle, tokens } = harness.chain()
  expect(await oracle.balanceOf(address, tokens.USDC)).toBe(1_000_000n)
  await checkLedger(harness.database)
})

it('a payout that is not marked as submitted, as after a restore from a backup, is not paid twice', async () => {
  const address = freshAddress()
  const recipient = await makeActiveRecipient(world, { address })
  await setPolicy(
    operator(),
    { entityId: harness.entityId, scope: 'entity', subjectId: harness.entityId },
    { mode: 'permissive' },
  )
  await fundMerchantWallet(world, 2_000_000n)
  const { id } = await makePayout(world, {
    destination: { type: 'address_book', id: recipient.id },
    amount: usd('1'),
  })
  const { externalRef } = await ended(id)
  await harness.database.run(
    sql`update payouts set status = 'pending', submitted = false, transaction_hash = null where id = ${id}`,
  )
  expect(await ended(id)).toMatchObject({ status: 'complete', externalRef })
  expect(await harness.chain().oracle.transfers({ to: address })).toHaveLength(1)
})
