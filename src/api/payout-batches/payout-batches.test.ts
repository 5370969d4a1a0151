import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { makeMember, signInAs } from '#testing/builders/members'
import { approveBatch, fileOf, rowsOf, uploadBatch } from '#testing/builders/payout-batches'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveRecipient,
  makePayout,
  makeRecipient,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const unit = 1_000_000n
const path = '/operator/payoutBatches'

let harness: Harness
let world: World
let stranger: World
beforeAll(async () => {
  harness = await openHarness({ config: { recipientHoldHours: 0 } })
  world = worldOf(harness, await harness.newEntity())
  stranger = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

const batchOf = (id: string, of = world) => of.call('GET', `${path}/${id}`)
const completed = async (id: string, of = world) => {
  await until(async () => (await batchOf(id, of)).state === 'complete', 'every row has ended')
  await until(
    async () => (await rowsOf(of, id)).every(({ payout }) => payout?.status !== 'pending'),
    'every payout has ended',
  )
  return rowsOf(of, id)
}
const paidTo = (address: string) => {
  const { oracle, tokens } = harness.chain()
  return oracle.balanceOf(address, tokens.USDC)
}

describe('a file of payouts', () => {
  it('property 257: is shown as it was understood, pays nothing before it is approved, and each row once then', async () => {
    await fundMerchantWallet(world, 100n * unit)
    const [one, other] = [await makeActiveRecipient(world), await makeActiveRecipient(world)]
    const csv = fileOf(
      'recipient;address;chain;amount;currency;reference',
      `${one.id};;;1.50;USD;=cmd()`,
      `;${other.address};base;2;usd;"a ""quoted"" one"`,
      `;${other.address};base;2;usd;`,
    )
    const batch = await uploadBatch(world, `\uFEFF${csv.replaceAll('\n', '\r\n')}`)
    expect(batch).toMatchObject({
      state: 'previewed',
      contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      rowCount: 3,
      errorCount: 0,
      warningCount: 1,
      waitingCount: 3,
      totals: [{ chain: 'BASE', rowCount: 3, amount: { amount: '5.50', currency: 'USD' } }],
      funds: [{ total: { amount: '5.50' }, available: { amount: '100.00' }, suffices: true }],
      fees: [{ blockchain: 'BASE-SEPOLIA', atMost: expect.stringMatching(/^\d+\.\d+$/) }],
    })
    const [first, second, third] = await rowsOf(world, batch.id)
    expect(first).toMatchObject({ row: 2, state: 'waiting', recipientId: one.id, reference: '=cmd()' })
    expect(second).toMatchObject({ row: 3, address: other.address, reference: 'a "quoted" one' })
    expect(third).toMatchObject({
      problems: [{ severity: 'warning', message: expect.stringContaining('as row 3') }],
    })
    expect(await world.call('GET', '/v1/payouts')).toEqual([])

    const wrong = await world.tenant.http('POST', `${path}/${batch.id}/approve`, {
      body: { contentHash: '0'.repeat(64) },
    })
    expect([wrong.status, wrong.body.code]).toEqual([409, 178112])
    expect(await approveBatch(world, batch)).toMatchObject({ state: 'approved', approvedBy: /^key:/ })
    // A client that got no answer asks again.
    await approveBatch(world, batch)
    const rows = await completed(batch.id)
    expect(rows.map(({ payout }) => [payout.id, payout.status])).toEqual(
      rows.map(({ id }) => [id, 'complete']),
    )
    expect([await paidTo(one.address), await paidTo(other.address)]).toEqual([1_500_000n, 4n * unit])
    expect((await world.call('GET', '/v1/payouts')).map(({ id }: { id: string }) => id).sort()).toEqual(
      rows.map(({ id }) => id).sort(),
    )
    const cancelled = await world.tenant.http('POST', `${path}/${batch.id}/cancel`)
    expect([cancelled.status, cancelled.body.code]).toEqual([409, 178113])
    await checkLedger(harness.database)
  })

  it('property 257: with an error in any row cannot be approved, and names each by row, column and remedy', async () => {
    const active = await world.payee()
    const denied = await makeRecipient(world, { address: `0x${'1'.repeat(28)}${'9'.repeat(12)}` })
    await until(
      async () => (await world.call('GET', `/v1/addressBook/recipients/${denied.id}`)).status === 'denied',
      'the recipient is denied',
    )
    const [treasury] = await harness.database.all<{ address: string }>(
      sql`select address from treasuries where entity_id = ${world.tenant.entityId}`,
    )
    const foreign = await makeActiveRecipient(stranger)
    const csv = fileOf(
      'recipient,address,chain,amount,currency',
      `${active.id},,,"1,234.50",USD`,
      `${active.id},,ETH,1,USD`,
      `${randomUUID()},,,1,USD`,
      `nobody,,,1,GBP`,
      `,${freshAddress()},BASE,1,USD`,
      `,${freshAddress()},BASE-SEPOLIA,1,USD`,
      `,0x12,BASE,1,USD`,
      `,,BASE,1,USD`,
      `${denied.id},,,1,USD`,
      `${active.id},,,3000,USD`,
      `${foreign.id},,,1,USD`,
      `,${treasury!.address},,1,USD`,
    )
    const batch = await uploadBatch(world, csv)
    expect(batch).toMatchObject({ errorCount: 12, totals: [] })
    const rows = await rowsOf(world, batch.id)
    const found = rows.map(({ row, problems }) => [
      row,
      ...problems.map((each: { column: string; message: string }) => [each.column, each.message]),
    ])
    const saying = (text: string) => expect.stringContaining(text)
    expect(found).toEqual([
      [2, ['amount', saying('separators of thousands')]],
      [3, ['chain', saying('contradicts the recipient')]],
      [4, ['recipient', saying('not in the address book: add it')]],
      [5, ['currency', 'must be USD or EUR'], ['recipient', saying('is not an id of the address book')]],
      [6, ['address', saying('not in the address book: add it')]],
      [7, ['chain', saying('did you mean BASE?')]],
      [8, ['address', saying('is not a valid address on BASE')]],
      [9, ['recipient', saying('name one of them')]],
      [10, ['recipient', saying('whose status is denied')]],
      [11, ['amount', saying('travel rule')]],
      [12, ['recipient', saying('not in the address book')]],
      [13, ['chain', saying('name the chain of the address')]],
    ])
    expect(await world.call('GET', `${path}/${batch.id}/rows?hasProblem=false`)).toEqual([])
    const refused = await world.tenant.http('POST', `${path}/${batch.id}/approve`, {
      body: { contentHash: batch.contentHash },
    })
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([
      400,
      178111,
      expect.stringContaining('12 rows of the batch have errors'),
    ])
    expect((await world.call('POST', `${path}/${batch.id}/cancel`)).state).toBe('cancelled')
    const named = await uploadBatch(world, fileOf('recipient,amount,currency', `${active.id},3000,USD`), {
      identities: [
        {
          type: 'business',
          name: 'Acme',
          addresses: [{ line1: 'Main 1', city: 'Bern', postalCode: '3000', country: 'CH' }],
        },
      ],
    })
    expect(named).toMatchObject({ errorCount: 0, hasSenders: true, funds: [{ suffices: false }] })
    const poor = await world.tenant.http('POST', `${path}/${named.id}/approve`, {
      body: { contentHash: named.contentHash },
    })
    expect([poor.status, poor.body.code]).toEqual([400, 5006])
  })

  it('says what the policy refuses, and that a file was uploaded before', async () => {
    const tenant = worldOf(harness, await harness.newEntity())
    const { id } = await tenant.payee()
    const csv = fileOf('recipient,amount,currency', `${id},1,USD`, `${id},5,USD`, `${id},0.9,USD`)
    const token = `BASE-SEPOLIA:${harness.chain().tokens.USDC.toLowerCase()}`
    await tenant.call('POST', '/operator/policies', {
      rules: {
        mode: 'rules',
        operations: ['transfer'],
        tokens: [token],
        destinations: 'any',
        limits: [
          {
            tokens: [token],
            perTransactionAtomic: '2000000',
            windows: [{ seconds: 86_400, amountAtomic: '1500000' }],
          },
        ],
      },
    })
    const batch = await uploadBatch(tenant, csv)
    const rows = await rowsOf(tenant, batch.id)
    expect(rows.map(({ problems }) => problems.length)).toEqual([0, 1, 0])
    expect(rows[1].problems[0]).toMatchObject({
      column: 'row',
      message: expect.stringContaining('perTransactionAtomic is 2000000'),
    })
    expect(batch.notices).toEqual([expect.stringContaining('no room for all of these payouts')])
    const again = await uploadBatch(tenant, csv)
    expect(again.contentHash).toBe(batch.contentHash)
    expect(again.notices[0]).toContain(batch.id)
  })

  it('is refused when too many were uploaded and cancelled within a day', async () => {
    const tenant = worldOf(harness, await harness.newEntity())
    const csv = fileOf('recipient,amount,currency', `${(await tenant.payee()).id},1,USD`)
    for (let count = 0; count < 100; count += 1) {
      const { id } = await uploadBatch(tenant, csv)
      await tenant.call('POST', `${path}/${id}/cancel`)
    }
    const body = { idempotencyKey: randomUUID(), name: 'one more', csv }
    const { status, body: answer } = await tenant.tenant.http('POST', path, { body })
    expect([status, answer.message]).toEqual([
      429,
      expect.stringContaining('100 batches of the last 24 hours'),
    ])
    await uploadBatch(stranger, fileOf('recipient,amount,currency', `${(await stranger.payee()).id},1,USD`))
  })

  it('asks nodes for the price of gas before its tx, which another upload would wait for', async () => {
    const tenant = worldOf(harness, await harness.newEntity())
    const csv = fileOf('recipient,amount,currency', `${(await tenant.payee()).id},1,USD`)
    const { offers } = harness.ctx.chains.list()[0]!.shared
    const { fees } = offers
    // Answers that come when the test is over, so that a worker which asked too can end.
    const late: (() => void)[] = []
    const answerLate = (...asked: Parameters<typeof fees>) =>
      new Promise((resolve) => late.push(() => resolve(fees(...asked))))
    Object.assign(offers, { fees: answerLate })
    const isFree = () =>
      harness.database.tx((tx) =>
        tx.one<{ free: boolean }>(
          sql`select pg_try_advisory_xact_lock(hashtextextended(${`payout batches of ${tenant.tenant.entityId}`}, 0)) as free`,
        ),
      )
    const looks: boolean[] = []
    try {
      // A price is used for a second.
      await sleep(1_100)
      const uploading = uploadBatch(tenant, csv)
      for (let look = 0; look < 20; look += 1, await sleep(50)) looks.push((await isFree()).free)
      expect((await uploading).fees[0].atMost).toBeUndefined()
    } finally {
      Object.assign(offers, { fees })
      for (const answer of late) answer()
    }
    expect(looks.filter((free) => !free)).toEqual([])
  })

  it('belongs to its entity, and is decided by its operators alone', async () => {
    const { id, contentHash } = await uploadBatch(world)
    for (const [method, tail, body] of [
      ['GET', '', undefined],
      ['GET', '/rows', undefined],
      ['POST', '/approve', { contentHash }],
      ['POST', '/cancel', undefined],
    ] as const) {
      const answer = await stranger.tenant.http(method, `${path}/${id}${tail}`, { ...(body && { body }) })
      expect([answer.status, answer.body.code]).toEqual([404, 178110])
    }
    const developer = await signInAs(world, await makeMember(world, 'developer'))
    expect((await developer.http('GET', `${path}/${id}`)).status).toBe(200)
    const denied = await developer.http('POST', `${path}/${id}/approve`, { body: { contentHash } })
    expect(denied.status).toBe(403)
  })

  it('property 257: a row that cannot be paid any more fails alone', async () => {
    await fundMerchantWallet(world, 10n * unit)
    const [gone, kept] = [await makeActiveRecipient(world), await makeActiveRecipient(world)]
    const batch = await uploadBatch(
      world,
      fileOf('recipient,amount,currency', `${gone.id},1,USD`, `${kept.id},1,USD`),
    )
    await world.call('DELETE', `/v1/addressBook/recipients/${gone.id}`)
    await approveBatch(world, batch)
    const [failed, created] = await completed(batch.id)
    expect(failed).toMatchObject({ state: 'failed', error: { code: 5004 } })
    expect(created).toMatchObject({ state: 'created', payout: { status: 'complete' } })
    expect(await batchOf(batch.id)).toMatchObject({ createdCount: 1, failedCount: 1, waitingCount: 0 })
  })
})

it('property 257: where two have to approve, the uploader is not the approver', async () => {
  const strict = await openHarness({ config: { recipientHoldHours: 0, reviewApprovers: 2 } })
  try {
    const of = worldOf(strict)
    await of.money()
    const { id } = await of.payee()
    const [first, second] = [
      await signInAs(of, await makeMember(of)),
      await signInAs(of, await makeMember(of)),
    ]
    const csv = fileOf('recipient,amount,currency', `${id},1,USD`)
    const body = { idempotencyKey: randomUUID(), name: 'salaries', csv }
    const batch = (await first.http('POST', path, { body })).body.data
    const approve = (who: typeof first) =>
      who.http('POST', `${path}/${batch.id}/approve`, { body: { contentHash: batch.contentHash } })
    const refused = await approve(first)
    expect([refused.status, refused.body.code]).toEqual([409, 178114])
    expect((await approve(second)).body.data).toMatchObject({
      state: 'approved',
      uploadedBy: `member:${first.session.member.id}`,
      approvedBy: `member:${second.session.member.id}`,
    })
  } finally {
    await strict.close()
  }
})

it('property 257: a batch of one tenant does not delay the payout of another', async () => {
  const { id } = await stranger.payee()
  await fundMerchantWallet(world, 10n * unit)
  await fundMerchantWallet(stranger, 10n * unit)
  const payee = await world.payee()
  const rows = Array.from({ length: 1_000 }, () => `${payee.id},0.001,USD`)
  const large = await uploadBatch(world, fileOf('recipient,amount,currency', ...rows))
  const small = await uploadBatch(stranger, fileOf('recipient,amount,currency', `${id},1,USD`))
  await approveBatch(world, large)
  await approveBatch(stranger, small)
  const single = await makePayout(stranger)
  await completed(small.id, stranger)
  await until(
    async () => (await stranger.call('GET', `/v1/payouts/${single.id}`)).status === 'complete',
    'the single payout is paid',
  )
  expect(await batchOf(large.id)).toMatchObject({ state: 'approved' })
  const cancelled = await world.call('POST', `${path}/${large.id}/cancel`)
  expect(cancelled).toMatchObject({ state: 'cancelled' })
  expect(cancelled.waitingCount).toBeGreaterThan(0)
  const states = new Set((await rowsOf(world, large.id)).map(({ state }) => state))
  expect(states).toEqual(new Set(['created', 'cancelled']))
})
