/** One word finds what it is about, among the own rows of an entity alone. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import { makeNotification, makeSubscription, makeWebhookSubscription } from '#testing/builders/subscriptions'
import { freshAddress, makeContract, makeDeposit, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness({ config: { requestLog: 'rows' } })
  world = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

type Found = { kind: string; id: string; label: string; path: string }

const ask = (q: string, own = world) => own.tenant.http('GET', `/operator/search?q=${encodeURIComponent(q)}`)
const search = async (q: string, own = world): Promise<Found[]> => {
  const { status, body, text } = await ask(q, own)
  expect(status, text).toBe(200)
  return body.data
}
const idsOf = (found: readonly Found[]) => found.map(({ id }) => id)

/** A transfer that is mined, with a reference and an amount as its caller writes it. */
async function makeReferredTransfer(amount: string, refId: string) {
  const wallet = await world.fundedWallet()
  const idempotencyKey = randomUUID()
  const destinationAddress = freshAddress()
  const requestId = randomUUID()
  const { status, body, text } = await world.tenant.http('POST', '/v1/w3s/developer/transactions/transfer', {
    headers: { 'X-Request-Id': requestId },
    body: {
      idempotencyKey,
      entitySecretCiphertext: await world.tenant.sealSecret(),
      walletId: wallet.id,
      tokenId: world.usdcId,
      destinationAddress,
      amounts: [amount],
      feeLevel: 'MEDIUM',
      refId,
    },
  })
  expect(status, text).toBe(201)
  const { id } = body.data
  let txHash = ''
  await until(async () => {
    const { transaction } = await world.call('GET', `/v1/w3s/transactions/${id}`)
    txHash = transaction.txHash
    return transaction.state === 'COMPLETE'
  }, 'the transfer is complete')
  return { id, txHash, idempotencyKey, requestId, destinationAddress, wallet }
}

it('finds each resource by what names it, at a path that answers, and nothing of others', async () => {
  const made = await makeReferredTransfer('1.2500', 'order 18842/ä')
  const { id, txHash, idempotencyKey, requestId, destinationAddress, wallet } = made
  const stranger = worldOf(harness, await harness.newEntity())
  const payee = await world.payee()
  const { id: payoutId } = await world.payout()
  const intent = await world.paymentIntent()
  const contract = await makeContract(world)
  const { id: notificationId } = await makeNotification(world)
  const { id: webhookId } = await makeWebhookSubscription(world, 'searched?key=secret')
  const { id: lineOneId } = await makeSubscription(world, 'searched')
  const [account] = await world.call('GET', `/operator/accounts?address=${wallet.address}`)
  const { id: setId } = await world.walletSet()
  await until(
    async () => (await world.tenant.http('GET', `/operator/requests/${requestId}`)).status === 200,
    'the request is logged',
  )
  const { id: loggedId } = await world.call('GET', `/operator/requests/${requestId}`)
  const shownWallet = (await world.call('GET', `/v1/w3s/wallets/${wallet.id}`)).wallet
  const words: [string, string, string][] = [
    [id, 'transaction', id],
    [id.toUpperCase(), 'transaction', id],
    [id.slice(0, 23), 'transaction', id],
    [id.replaceAll('-', ''), 'transaction', id],
    [id.replaceAll('-', '').slice(0, 30), 'transaction', id],
    [` ${txHash}\t`.trimEnd(), 'transaction', id],
    [txHash.toUpperCase().replace('0X', '0x'), 'transaction', id],
    [txHash.slice(0, 12), 'transaction', id],
    [txHash.slice(0, 6), 'transaction', id],
    [destinationAddress, 'transaction', id],
    ['order 18842/ä', 'transaction', id],
    ['1.25', 'transaction', id],
    ['1.250000000000', 'transaction', id],
    [idempotencyKey, 'transaction', id],
    [requestId, 'request', loggedId],
    [idempotencyKey, 'request', loggedId],
    [wallet.id, 'wallet', wallet.id],
    [shownWallet.address, 'wallet', wallet.id],
    [setId, 'walletSet', setId],
    [payoutId, 'payout', payoutId],
    [payee.id, 'recipient', payee.id],
    [payee.address, 'recipient', payee.id],
    [intent.id, 'paymentIntent', intent.id],
    [intent.depositAddress, 'paymentIntent', intent.id],
    [contract.id, 'contract', contract.id],
    [contract.contractAddress, 'contract', contract.id],
    [notificationId, 'notification', notificationId],
    [webhookId, 'subscription', webhookId],
    [lineOneId, 'subscription', lineOneId],
    [account.id, 'account', account.id],
  ]
  for (const [word, kind, wanted] of words) {
    const found = await search(word)
    const hit = found.find((each) => each.kind === kind && each.id === wanted)
    expect([word, kind, hit?.id], JSON.stringify(found)).toEqual([word, kind, wanted])
    expect(found.length).toBeLessThanOrEqual(10)
    expect(await search(word, stranger)).toEqual([])
  }
  for (const [word] of words)
    for (const { path, label } of await search(word)) {
      expect(label).not.toContain('secret')
      expect([path, (await world.tenant.http('GET', path)).status]).toEqual([path, 200])
    }
  expect((await search(id))[0]).toEqual({
    kind: 'transaction',
    id,
    label: '1.2500 USDC on BASE-SEPOLIA, COMPLETE',
    path: `/operator/movements/${id}`,
  })
})

it('finds a transaction by the hash of an attempt that another one replaced', async () => {
  const { id } = await makeReferredTransfer('0.000123', '')
  const hash = `0x${'ab'.repeat(32)}`
  const owner = openAsOwner(harness.connection)
  await owner.run(sql`insert into attempts (entity_id, id, transaction_id, blockchain, address, nonce, kind, tx_hash,
      raw_transaction, gas_limit, max_fee, priority_fee, state, create_date)
    select entity_id, gen_random_uuid(), transaction_id, blockchain, address, nonce + 1000, kind, ${hash}, raw_transaction,
      gas_limit, max_fee, priority_fee, 'replaced', create_date from attempts where transaction_id = ${id} limit 1`)
  await owner.close()
  expect(idsOf(await search(hash))).toEqual([id])
  expect(await search(hash, worldOf(harness))).toEqual([])
})

it('shows ten at most, exact ones first, and does not search within words', async () => {
  const own = worldOf(harness, await harness.newEntity())
  const deposits: string[] = []
  for (let index = 0; index < 12; index++) deposits.push((await makeDeposit(own, '77.01')).id)
  const found = await search('77.01', own)
  expect(found).toHaveLength(10)
  expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['deposit']))
  expect(found[0]!.label).toMatch(/^77.01 USD on BASE-SEPOLIA, /)
  // All ids of this hour begin alike: the whole one is first.
  const [first] = deposits
  expect((await search(first!, own))[0]!.id).toBe(first)
  const begun = await search(first!.slice(0, 8), own)
  expect(begun).toHaveLength(10)
  const wallet = await own.wallet()
  for (const word of [
    '%',
    '_',
    '%77.01%',
    '7.01',
    wallet.address.slice(4),
    wallet.address.slice(0, -1),
    wallet.id.slice(1),
    wallet.id.slice(0, 5),
    '0x123',
    "' or 1=1 --",
    '\\',
    '{}',
    '9'.repeat(200),
    `0.${'0'.repeat(80)}1`,
    '1e400',
    '-77.01',
    '+77.01',
    'NaN',
    '０.５',
    '\u202e',
    '00000000-0000-0000-0000-000000000000',
  ])
    expect([word, await search(word, own)]).toEqual([word, []])
})

it('refuses what is no word', async () => {
  const cases: [string, string][] = [
    ['', 'q'],
    ['%20%20', 'q'],
    ['a'.repeat(257), 'q'],
    ['a%00b', 'q'],
    ['a%0Ab', 'q'],
    ['a%7Fb', 'q'],
    ['a%C2%85b', 'q'],
    ['a&q=b', 'q'],
  ]
  for (const [query, location] of cases) {
    const { status, body } = await world.tenant.http('GET', `/operator/search?q=${query}`)
    expect([query, status, body.errors?.[0]?.location]).toEqual([query, 400, location])
  }
  const missing = await world.tenant.http('GET', '/operator/search')
  expect([missing.status, missing.body.errors[0].location]).toEqual([400, 'q'])
  expect((await world.tenant.http('GET', `/operator/search?q=${'a'.repeat(256)}`)).status).toBe(200)
})
