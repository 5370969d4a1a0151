import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { compileResponse } from '#runtime/http/validate'
import {
  intentOf,
  people,
  signedIntent,
  signedSet,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
  wallet,
  word,
} from '#testing/builders/unified-balances'
import { followedMining } from '#testing/nodes/followed-mining'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { mineUntil, until } from '#testing/platform/until'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'
import { permissionlessSubscriptionSchema } from './permissionless-schema.ts'

/* BASE-SEPOLIA waits for finality as a public chain does; AVAX-FUJI is final at once. */
let harness: Harness
let unified: UnifiedBalances
let tenant: Tenant
let receiver: WebhookReceiver
const closers: (() => Promise<void>)[] = []
beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'],
    node: async ({ blockchain }) =>
      blockchain === 'BASE-SEPOLIA'
        ? { local: false, crosschain: knownCrosschainAddresses(baseSepolia) }
        : {},
  })
  unified = unifiedBalances(harness)
})
beforeEach(async () => {
  tenant = await harness.newEntity()
  receiver = await receiverOf(tenant)
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})
afterAll(() => harness?.close())

async function receiverOf(of: Tenant): Promise<WebhookReceiver> {
  const opened = await openWebhookReceiver(of.http)
  closers.push(opened.close)
  return opened
}

const base = () => harness.chain('BASE-SEPOLIA')
const avax = () => harness.chain('AVAX-FUJI')
const [alice, bob, carol, dave, erin, frank] = people as unknown as Record<number, (typeof people)[0]> &
  (typeof people)[0][]
const path = '/v2/notifications/subscriptions/permissionless'
const lower = (address: string) => address.toLowerCase()
const bodyOf = (changes: object = {}) => ({
  environment: 'TEST',
  endpoint: receiver.url,
  addresses: [alice!.address],
  domains: ['1', '6'],
  ...changes,
})
const subscribe = async (changes: object = {}, as = tenant) => {
  const { status, body } = await as.http('POST', path, { body: bodyOf(changes) })
  expect([status, body.message]).toEqual([200, undefined])
  return body.data
}
const mine = (check: () => Promise<boolean>, what: string) =>
  mineUntil(followedMining(harness, base()), check, what)

type Sent = { subscriptionId: string; notificationType: string; notification: Record<string, string> }
/** The notifications that a receiver has; its answer shows that it took their signatures for genuine. */
const sentTo = ({ received }: WebhookReceiver): Sent[] =>
  received
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => JSON.parse(body) as Sent)
    .filter(({ notificationType }) => notificationType !== 'webhooks.test')
const hasShape = compileResponse(permissionlessSubscriptionSchema)

describe('subscriptions to unified balances', () => {
  it('are created, listed, read, changed and deleted, apart from those of wallets', async () => {
    const made = await subscribe({ domains: ['6', 1], name: 'Gateway' })
    expect(hasShape(made)).toBe(true)
    expect(made).toEqual({
      id: expect.any(String),
      name: 'Gateway',
      endpoint: receiver.url,
      enabled: true,
      notificationTypes: ['gateway.*'],
      restricted: false,
      environment: 'TEST',
      addresses: [lower(alice!.address)],
      domains: ['1', '6'],
      createDate: expect.any(String),
      updateDate: made.createDate,
    })
    expect(receiver.received.map(({ method }) => method)).toEqual(['HEAD', 'POST'])
    // A repeated request doubles nothing.
    expect((await subscribe({ domains: [6, '1', '6'], name: 'Gateway' })).id).toBe(made.id)
    expect((await tenant.http('GET', path)).body.data).toEqual([made])
    expect((await tenant.http('GET', `${path}?environment=TEST`)).body.data).toEqual([made])
    expect((await tenant.http('GET', `${path}?environment=LIVE`)).body.data).toEqual([])
    const one = `/v2/notifications/subscriptions/permissionless/${made.id}`
    expect((await tenant.http('GET', one)).body.data).toEqual(made)
    const ofWallets = '/v2/notifications/subscriptions'
    expect((await tenant.http('GET', ofWallets)).body.data).toEqual([])
    for (const method of ['GET', 'DELETE'])
      expect((await tenant.http(method, `${ofWallets}/${made.id}`)).status).toBe(404)
    const stranger = await harness.newEntity()
    expect((await stranger.http('GET', one)).status).toBe(404)

    const renamed = await tenant.http('PATCH', one, { body: { name: 'Shop', enabled: false } })
    expect(renamed.body.data).toMatchObject({ name: 'Shop', enabled: false, addresses: made.addresses })
    const filters = {
      notificationTypes: ['gateway.mint.finalized'],
      addresses: [bob!.address],
      domains: ['6'],
      environment: 'TEST',
      endpoint: receiver.url,
    }
    expect((await tenant.http('PATCH', one, { body: filters })).body.data).toMatchObject({
      notificationTypes: ['gateway.mint.finalized'],
      restricted: true,
      enabled: false,
      addresses: [lower(bob!.address)],
      domains: ['6'],
    })
    expect((await tenant.http('DELETE', one)).status).toBe(204)
    expect((await tenant.http('GET', one)).status).toBe(404)
  })

  it('refuse what they cannot watch, and name the field', async () => {
    const refusals: [object, string, number?][] = [
      [{ environment: 'LIVE' }, 'environment'],
      [{ addresses: [] }, 'addresses'],
      [{ addresses: ['0x12'] }, 'addresses[0]'],
      [
        { addresses: Array.from({ length: 51 }, (_, index) => `0x${String(index).padStart(40, '0')}`) },
        'addresses',
      ],
      [{ domains: [] }, 'domains'],
      [{ domains: ['6', '5'] }, 'domains[1]', 178002],
      [{ domains: ['-1'] }, 'domains[0]'],
      [{ notificationTypes: ['transactions.*'] }, 'notificationTypes[0]'],
      [{ endpoint: 'http://127.0.0.1:1/nobody' }, 'endpoint', 155704],
    ]
    for (const [changes, location, code] of refusals) {
      const { status, body } = await tenant.http('POST', path, { body: bodyOf(changes) })
      expect([changes, status, body.errors?.[0]?.location]).toEqual([changes, 400, location])
      if (code === 178002) expect(body.code).toBe(code)
    }
    const { id } = await subscribe()
    const partial = await tenant.http('PATCH', `${path}/${id}`, { body: { addresses: [bob!.address] } })
    expect([partial.status, partial.body.errors[0].location]).toEqual([400, 'notificationTypes'])
    const moved = await tenant.http('PATCH', `${path}/${id}`, { body: { endpoint: `${receiver.url}/other` } })
    expect([moved.status, moved.body.errors[0].location]).toEqual([400, 'endpoint'])
  })

  it('count among the subscriptions of the entity, which are limited', async () => {
    const ofWallets = '/v2/notifications/subscriptions'
    await tenant.http('POST', ofWallets, { body: { endpoint: receiver.url } })
    for (let count = 1; count < 20; count++) await subscribe({ endpoint: `${receiver.url}/${count}` })
    const more = await tenant.http('POST', path, { body: bodyOf({ endpoint: `${receiver.url}/more` }) })
    expect([more.status, more.body.message]).toEqual([429, expect.stringContaining('delete one first')])
  })
})

describe('property 247: who watches an address', () => {
  it('is told of its deposit when that is final, once, and never of one that a fork took back', async () => {
    const { id: subscriptionId } = await subscribe({ addresses: [alice!.address, bob!.address] })
    const everything = await receiverOf(tenant)
    await tenant.http('POST', '/v2/notifications/subscriptions', { body: { endpoint: everything.url } })
    const deaf = await harness.newEntity()
    const dead = await receiverOf(deaf)
    await subscribe({ endpoint: dead.url }, deaf)
    await dead.close()

    await unified.pay(base(), bob!.address, 7_000_000n)
    await base().reorg(1)
    const hash = await unified.payFor(base(), carol!.address, alice!.address, 5_000_000n)
    expect(sentTo(receiver)).toEqual([])
    await mine(async () => (await unified.balance(base(), alice!.address)) === '5', 'the deposit counts')
    await until(() => sentTo(receiver).length > 0, 'it is told')
    expect(sentTo(receiver)).toEqual([
      {
        subscriptionId,
        notificationId: expect.any(String),
        notificationType: 'gateway.deposit.finalized',
        timestamp: expect.stringMatching(/Z$/),
        version: 2,
        notification: {
          id: expect.any(String),
          walletAddress: lower(alice!.address),
          domain: '6',
          env: 'testnet',
          amount: '5.000000',
          txHash: hash,
          tokenAddress: baseSepolia.tokens.find(({ symbol }) => symbol === 'USDC')!.address,
          from: lower(carol!.address),
          to: lower(wallet),
        },
      },
    ])
    expect(sentTo(everything)).toEqual([])
  })

  it('is told of each deposit once, although a fork takes its final block and another block has it', async () => {
    await subscribe({ addresses: [dave!.address], domains: ['1'] })
    const first = await unified.pay(avax(), dave!.address, 1_000_000n)
    await until(() => sentTo(receiver).length === 1, 'the first is told')
    const raw = await avax().rpc('eth_getRawTransactionByHash', [first])
    await avax().reorg(1)
    await unified.shows(avax(), dave!.address, '0')
    await avax().rpc('eth_sendRawTransaction', [raw])
    await unified.shows(avax(), dave!.address, '1')
    const second = await unified.pay(avax(), dave!.address, 1_000_000n)
    await until(() => sentTo(receiver).length > 1, 'the second is told')
    expect(sentTo(receiver).map(({ notification }) => notification['txHash'])).toEqual([first, second])
  })

  it('is told of a mint by its receivers alone, with the sum of each, and whether it was forwarded', async () => {
    await unified.fund(avax(), erin!.address, 50_000_000n, '50')
    const both = [erin!.address, frank!.address]
    await subscribe({ addresses: both, domains: ['1'] })
    const mints = await receiverOf(tenant)
    await subscribe({
      endpoint: mints.url,
      addresses: both,
      domains: ['1'],
      notificationTypes: ['gateway.mint.finalized'],
    })
    const elsewhere = await receiverOf(tenant)
    await subscribe({ endpoint: elsewhere.url, addresses: both, domains: ['6'] })
    const toFrank = { destinationRecipient: word(frank!.address) }
    const intents = [1_000_000n, 2_000_000n].map((value) =>
      intentOf(specOf(avax(), avax(), erin!.address, { ...toFrank, value })),
    )
    const made = (await unified.transfer([await signedSet(erin!, intents)])).body
    const mintHash = await unified.mint(avax(), made)
    const event = {
      walletAddress: lower(frank!.address),
      domain: '1',
      env: 'testnet',
      amount: '3.000000',
      txHash: mintHash,
      from: lower(erin!.address),
      to: lower(frank!.address),
    }
    await until(() => sentTo(receiver).length > 0 && sentTo(mints).length > 0, 'the mint is told')
    for (const of of [receiver, mints])
      expect(sentTo(of)).toMatchObject([{ notificationType: 'gateway.mint.finalized', notification: event }])
    const forwarded = await unified.transfer(
      [await signedIntent(erin!, intentOf(specOf(avax(), avax(), erin!.address, toFrank)))],
      '?enableForwarder=true',
    )
    await unified.untilState(forwarded.body.transferId, 'finalized')
    const { transactionHash } = await unified.state(forwarded.body.transferId)
    await until(() => sentTo(receiver).length === 3 && sentTo(mints).length === 2, 'both are told')
    const later = sentTo(receiver).slice(1)
    expect(later.map(({ notificationType }) => notificationType).sort()).toEqual([
      'gateway.mint.finalized',
      'gateway.mint.forwarded',
    ])
    for (const { notification } of later)
      expect(notification).toMatchObject({ amount: '1.000000', txHash: transactionHash })
    expect(sentTo(elsewhere)).toEqual([])
  })
})
