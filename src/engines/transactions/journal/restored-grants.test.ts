/**
 * Transactions that a journal restored, which has no keys: they are replaced nevertheless, and only by what was signed before.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openAsOwner, openDatabase, type Sql, sql } from '#runtime/db/db'
import { seededRandom } from '#testing/adversary/seeded-random'
import { fundUntilBooked } from '#testing/builders/funds'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, fundMerchantWallet, makePayout, type Wallet } from '#testing/builders/world'
import {
  cleanUp,
  cleanups,
  copyOf,
  fundedWallets,
  openTwoMachines,
  submit,
} from '#testing/databases/restored-database'
import { mineAtBaseFee } from '#testing/nodes/base-fee'
import { approved } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'

afterEach(cleanUp)

it('property 30: restored transfers are accelerated and cancelled, and count once against limits', async () => {
  const site = await openTwoMachines(seededRandom(1), { automine: true })
  const { chain } = site
  const first = await copyOf('seeded')
  const wallets = await fundedWallets(await site.front(first), chain)
  await site.closeAll()
  const restored = await copyOf(first.name)

  const tenant = await site.front(first)
  await chain.setAutomine(false)
  await site.open(first, 'one')
  const faster = await submit(tenant, chain, wallets[0]!)
  const cancelled = await submit(tenant, chain, wallets[1]!)
  const pending = async () => Number((await chain.rpc<{ pending: string }>('txpool_status')).pending)
  await until(async () => (await pending()) === 2, 'a node has both')
  await site.killAll()

  const database = openDatabase(restored.connection, 2)
  cleanups.push(() => database.close())
  const later = await site.front(restored)
  await site.open(restored, 'one')
  type Attempt = { id: string; kind: string; state: string; maxFee: bigint }
  const attempts = () =>
    database.all<Attempt>(sql`select transaction_id as id, kind, state, max_fee from attempts`)
  const sent = (id: string, kind: string) => async () =>
    (await attempts()).some((each) => each.id === id && each.kind === kind && each.state === 'sent')
  for (const { id } of [faster, cancelled]) await until(sent(id, 'original'), 'the restored bytes are sent')
  const dearest = (await attempts()).reduce((most, { maxFee }) => (maxFee > most ? maxFee : most), 0n)
  await mineAtBaseFee(chain, dearest * 3n)
  const ask = async (id: string, what: string) => {
    const body = { idempotencyKey: randomUUID(), entitySecretCiphertext: await later.sealSecret() }
    return later.http('POST', `/v1/w3s/developer/transactions/${id}/${what}`, { body })
  }
  for (const [{ id }, what] of [[faster, 'accelerate'] as const, [cancelled, 'cancel'] as const]) {
    const { status, text } = await ask(id, what)
    expect(status, text).toBe(200)
  }
  await until(sent(faster.id, 'bump'), 'the replacement is sent')
  await until(sent(cancelled.id, 'cancel'), 'the cancellation is sent')
  await chain.setAutomine(true)
  await chain.mine()
  const stateOf = async (id: string) =>
    (await database.one<{ state: string }>(sql`select state from transactions where id = ${id}`)).state
  await until(async () => (await stateOf(faster.id)) === 'COMPLETE', 'the transfer is complete')
  await until(async () => (await stateOf(cancelled.id)) === 'CANCELLED', 'the other one is cancelled')
  await chain.oracle.checkMovedOnce([
    { to: faster.to, token: chain.tokens.USDC, amountAtomic: faster.amountAtomic },
  ])
  expect(await chain.oracle.transfers({ to: cancelled.to })).toEqual([])
  for (const { address } of wallets) await chain.oracle.checkNonces(address)
  const spent = await database.all<{ id: string; amount: bigint; released: boolean }>(
    sql`select intent_id as id, amount, released_date is not null as released from policy_spending order by amount`,
  )
  expect(spent).toEqual([
    { id: faster.id, amount: faster.amountAtomic, released: false },
    { id: cancelled.id, amount: cancelled.amountAtomic, released: true },
  ])
  const noGrant = async () => (await database.all(sql`select 1 from grants`)).length === 0
  await mineUntil(chain, noGrant, 'the grants are erased once both are final')
})

describe('a transaction in flight without a grant', () => {
  let harness: Harness
  let on: ReturnType<typeof transferActions>
  let wallet: Wallet
  beforeAll(async () => {
    harness = await openHarness()
    on = transferActions(harness)
    wallet = await on.fundedWallet()
  })
  afterEach(() => harness.chain().setAutomine(true))
  afterAll(() => harness?.close())

  /** Changes rows that the program cannot change. */
  async function change(...statements: readonly Sql[]) {
    const owner = openAsOwner(harness.connection)
    await owner.tx(async (tx) => {
      await tx.run(sql`set local session_replication_role = replica`)
      for (const statement of statements) await tx.run(statement)
    })
    await owner.close()
  }

  /** Leaves of a sent transaction what a restore leaves. */
  async function loseGrant(id: string): Promise<void> {
    await on.sent(id, 'original')
    await change(sql`delete from grants where intent_id = ${id}`)
  }

  async function raisePrices(id: string): Promise<void> {
    const { maxFee } = await on.sent(id, 'original')
    await mineAtBaseFee(harness.chain(), maxFee * 3n)
  }

  const grantsOf = (id: string) => harness.database.all(sql`select 1 from grants where intent_id = ${id}`)

  async function isMined(id: string, isComplete: () => Promise<boolean>): Promise<void> {
    await harness.chain().setAutomine(true)
    await harness.chain().mine()
    await until(isComplete, 'it is complete')
    const isErased = async () => (await grantsOf(id)).length === 0
    await mineUntil(harness.chain(), isErased, 'the grant is erased once the transaction is final')
  }

  const isComplete = async (id: string) => (await on.read(id)).state === 'COMPLETE'

  it("a treasury's transaction is replaced by itself once prices rise", async () => {
    await fundMerchantWallet(on.world, 10_000_000n)
    const pay = async () => (await makePayout(on.world, { amount: { amount: '1', currency: 'USD' } })).id
    const statusOf = async (id: string) => (await on.world.call('GET', `/v1/payouts/${id}`)).status
    // The treasury has the coins from here on.
    const before = await pay()
    await until(async () => (await statusOf(before)) === 'complete', 'a payout is complete')
    await harness.chain().setAutomine(false)
    const payout = await pay()
    const sent = async () => (await on.world.call('GET', `/v1/payouts/${payout}`)).externalRef
    await until(async () => (await sent()) !== undefined, 'the payout is sent')
    const { id } = await harness.database.one<{ id: string }>(
      sql`select id from transactions where tx_hash = ${await sent()}`,
    )
    await loseGrant(id)
    await raisePrices(id)
    await on.sent(id, 'bump')
    await isMined(id, async () => (await statusOf(payout)) === 'complete')
  })

  it("a user's transaction is accelerated with the PIN", async () => {
    const user = await makePinUser(on.world)
    await fundUntilBooked(harness, user.wallet, { usdc: '10', native: '1' })
    await harness.chain().setAutomine(false)
    const transfer = {
      walletId: user.wallet.id,
      tokenId: on.world.usdcId,
      amounts: ['1'],
      feeLevel: 'MEDIUM',
      destinationAddress: freshAddress(),
    }
    const asked = await askUser(on.world, user, 'transactions/transfer', transfer)
    const id: string = (await approved(on.world, user, asked)).challenge.correlationIds[0]
    await loseGrant(id)
    await raisePrices(id)
    const faster = await askUser(on.world, user, `transactions/${id}/accelerate`)
    expect((await approved(on.world, user, faster)).challenge.status).toBe('COMPLETE')
    await on.sent(id, 'bump')
    await isMined(id, () => isComplete(id))
  })

  it('gets no grant for another content than the one that was signed for it', async () => {
    await harness.chain().setAutomine(false)
    const [id, other] = [await on.transfer(wallet), await on.transfer(wallet)]
    await on.sent(other, 'original')
    await loseGrant(id)
    const isRefused = async () => {
      const { status, body } = await on.ask(id, 'accelerate')
      expect([status, body.code]).toEqual([400, 155229])
      expect(body.message).toContain('restored from an older copy')
      expect(await grantsOf(id)).toEqual([])
    }
    const signedFor = (each: string) =>
      harness.database.one<{ callTo: string; callData: Buffer; raw: Buffer }>(
        sql`select call_to, call_data, raw_transaction as raw from transactions t join attempts a on a.transaction_id = t.id
          where t.entity_id = ${harness.entityId} and a.entity_id = ${harness.entityId} and t.id = ${each}`,
      )
    const [own, others] = [await signedFor(id), await signedFor(other)]
    const row = (set: Sql) => sql`update transactions set ${set} where id = ${id}`
    await change(row(sql`call_to = ${freshAddress()}`))
    await isRefused()
    await change(row(sql`call_to = ${own.callTo}, call_value = 1`))
    await isRefused()
    await change(
      // The bytes and the call of another transaction of the sender, which were signed for another nonce.
      row(sql`call_value = 0, call_data = ${others.callData}`),
      sql`update attempts set raw_transaction = ${others.raw} where transaction_id = ${id}`,
    )
    await isRefused()
    await change(
      row(sql`call_data = ${own.callData}`),
      sql`update attempts set raw_transaction = ${own.raw} where transaction_id = ${id}`,
      // The signing ledger has the payload, of another transaction.
      sql`update signatures set intent_id = ${other} where intent_id = ${id}`,
    )
    await isRefused()
    await change(
      sql`update signatures s set intent_id = ${id} from attempts a where s.entity_id = ${harness.entityId}
        and a.entity_id = ${harness.entityId} and a.transaction_id = ${id} and s.address = a.address and s.nonce = a.nonce`,
    )
    expect((await on.ask(id, 'accelerate')).status).toBe(200)
    await on.sent(id, 'bump')
    await isMined(id, () => isComplete(id))
  })
})
