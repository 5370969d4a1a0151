import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { approveBatch, fileOf, rowsOf, uploadBatch } from '#testing/builders/payout-batches'
import { fundMerchantWallet, makeActiveRecipient, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let singapore: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness({ config: { recipientHoldHours: 0 } })
  singapore = await openHarness({ config: { recipientHoldHours: 0, entityCountry: 'SG' } })
  world = worldOf(harness)
})
afterAll(() => Promise.all([harness?.close(), singapore?.close()]))

const intent = (changes: object) => ({
  currency: 'USD',
  settlementCurrency: 'USD',
  type: 'continuous',
  paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  ...changes,
})
const payout = async (of: World, changes: object) => ({
  destination: { type: 'address_book', id: (await of.payee()).id },
  amount: { amount: '1.00', currency: 'USD' },
  ...changes,
})
const file = async (of: World, changes: object) => ({
  name: 'Salaries',
  csv: fileOf('recipient,amount,currency', `${(await of.payee()).id},1.00,USD`),
  ...changes,
})

const made = async (of: Harness, path: string, fields: object) => {
  const { status, body } = await of.http('POST', path, { body: { idempotencyKey: randomUUID(), ...fields } })
  return [status, body.code, body.errors?.[0]?.location ?? body.data?.purposeOfTransfer]
}

it('the purpose of a payment intent and of a payout is kept and shown', async () => {
  await fundMerchantWallet(world, 20_000_000n)
  const given = { purposeOfTransfer: 'PMT001' }
  expect(await made(harness, '/v1/paymentIntents', intent(given))).toEqual([201, undefined, 'PMT001'])
  expect(await made(harness, '/v1/paymentIntents', intent({}))).toEqual([201, undefined, undefined])
  expect(await made(harness, '/v1/payouts', await payout(world, given))).toEqual([201, undefined, 'PMT001'])
  expect(await made(harness, '/v1/payouts', await payout(world, {}))).toEqual([201, undefined, undefined])
  const listed: { id: string; purposeOfTransfer?: string }[] = await world.call('GET', '/v1/paymentIntents')
  const named = listed.find(({ purposeOfTransfer }) => purposeOfTransfer === 'PMT001')!
  expect(await world.call('GET', `/v1/paymentIntents/${named.id}`)).toMatchObject(given)
})

it('the purpose of a file is that of each of its payouts, and part of what is approved', async () => {
  const { id } = await makeActiveRecipient(world)
  const csv = fileOf('recipient,amount,currency', `${id},1.25,USD`)
  const plain = await uploadBatch(world, csv)
  const batch = await uploadBatch(world, csv, { purposeOfTransfer: 'PMT008' })
  expect(batch).toMatchObject({ purposeOfTransfer: 'PMT008', errorCount: 0 })
  expect(batch.contentHash).not.toBe(plain.contentHash)
  await approveBatch(world, batch)
  await until(async () => (await rowsOf(world, batch.id))[0].payout, 'the row is a payout')
  const [row] = await rowsOf(world, batch.id)
  expect(await world.call('GET', `/v1/payouts/${row.payout.id}`)).toMatchObject({
    purposeOfTransfer: 'PMT008',
  })
})

it.each(['PMT006', 'PMT031', 'pmt001', 'rent', ''])('the purpose "%s" is refused by name', async (code) => {
  const given = { purposeOfTransfer: code }
  const [at, refused] = ['purposeOfTransfer', 400]
  expect(await made(harness, '/v1/paymentIntents', intent(given))).toEqual([refused, 1177, at])
  expect(await made(harness, '/v1/payouts', await payout(world, given))).toEqual([refused, 5020, at])
  expect(await made(harness, '/operator/payoutBatches', await file(world, given))).toEqual([
    refused,
    5020,
    at,
  ])
})

it('an operator in Singapore has to name the purpose', async () => {
  const there = worldOf(singapore)
  await there.call('POST', '/v1/mocks/payments/wire', {
    trackingRef: 'CIR2Y3BBTP',
    amount: { amount: '20.00', currency: 'USD' },
    beneficiaryBank: { accountNumber: '11111111111' },
  })
  const owned = async () => (await there.call('GET', '/v1/businessAccount/balances')).available.length
  await until(async () => (await owned()) > 0, 'the wire is credited')
  const [at, given] = ['purposeOfTransfer', { purposeOfTransfer: 'PMT000' }]
  expect(await made(singapore, '/v1/paymentIntents', intent({}))).toEqual([400, 1177, at])
  expect(await made(singapore, '/v1/payouts', await payout(there, {}))).toEqual([400, 5020, at])
  expect(await made(singapore, '/operator/payoutBatches', await file(there, {}))).toEqual([400, 5020, at])
  expect(await made(singapore, '/v1/paymentIntents', intent(given))).toEqual([201, undefined, 'PMT000'])
  expect(await made(singapore, '/v1/payouts', await payout(there, given))).toEqual([201, undefined, 'PMT000'])
})
