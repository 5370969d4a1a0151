import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createWalletClient, defineChain, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { topics } from '#api/index'
import { newId } from '#lib/ids'
import { sql } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { devAccounts } from '#sandbox/constants'
import { lyingTokenAbi, lyingTokenBytecode } from '#testing/artifacts/lying-token'
import {
  fundMerchantWallet,
  makeBusinessTransfer,
  makePayment,
  makePaymentIntent,
  makePayout,
  type World,
  worldOf,
} from '#testing/builders/world'
import { unlimited } from '#testing/databases/blocked-sessions'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'
import { type Notice, openWebhookSink, type WebhookSink } from '#testing/servers/webhook-sink'
import { startWebhooks } from './index.ts'

/* Notifications equal the GET of the resource, once for every visible change. */
let harness: Harness
let world: World
let sink: WebhookSink

beforeAll(async () => {
  harness = await openHarness()
})
beforeEach(async () => {
  world = worldOf(harness, await harness.newEntity())
  sink = await openWebhookSink()
  return () => sink.close()
})
afterAll(() => harness?.close())

const subscribe = async () => {
  await world.call('POST', '/v1/notifications/subscriptions', { endpoint: sink.url })
  await sink.confirm()
}
const get = (path: string, id: string) => world.call('GET', `${path}/${id}`)
const statuses = (notices: Notice[], id: string) =>
  notices.filter(({ payment }) => payment?.id === id).map(({ payment }) => payment.status)
const transient = (amount: string) => ({
  idempotencyKey: randomUUID(),
  type: 'transient',
  amount: { amount, currency: 'USD' },
  settlementCurrency: 'USD',
  paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
})

describe('notifications', () => {
  it('notifications of an intent and its payment equal their GET, in the documented envelope', async () => {
    await subscribe()
    const intent = await world.call('POST', '/v1/paymentIntents', transient('3.5'))
    await until(async () => sink.notices('paymentIntents').length === 1, 'the new intent is reported')
    expect(sink.notices('paymentIntents')[0]).toEqual({
      messageId: expect.any(String),
      clientId: world.tenant.entityId,
      notificationType: 'paymentIntents',
      version: 1,
      customAttributes: { clientId: world.tenant.entityId },
      paymentIntent: intent,
    })
    await harness.chain().send(intent.paymentMethods[0].address, 3_500_000n, 'USDC')
    const isComplete = () =>
      sink
        .notices('paymentIntents')
        .some((notice) => notice['paymentIntent'].timeline[0].status === 'complete')
    await until(async () => isComplete(), 'the intent is reported complete')
    await until(
      async () => sink.notices('payments').at(-1)?.['payment'].status === 'paid',
      'the payment is paid',
    )
    const last = sink.notices('payments').at(-1)!['payment']
    expect(last).toEqual(await get('/v1/payments', last.id))
    expect(statuses(sink.notices('payments'), last.id)).toEqual(['pending', 'confirmed', 'paid'])
    const shown = await get('/v1/paymentIntents', intent.id)
    expect(sink.notices('paymentIntents').at(-1)!['paymentIntent']).toEqual(shown)
    expect(shown.paymentIds).toEqual([last.id])

    const [message] = sink.messages('Notification')
    expect(message).toMatchObject({
      TopicArn: 'arn:aws:sns:us-east-1:908968368384:sandbox_platform-notifications-topic',
      MessageAttributes: { clientId: { Type: 'String', Value: world.tenant.entityId } },
    })
    expect(message).not.toHaveProperty('SubscribeURL')
    const posted = sink.received.find(({ body }) => body.includes(message!.MessageId))!
    expect(posted.headers).toMatchObject({
      'content-type': 'text/plain; charset=UTF-8',
      'x-amz-sns-message-type': 'Notification',
      'x-amz-sns-message-id': message!.MessageId,
      'x-amz-sns-topic-arn': message!.TopicArn,
    })
    expect(posted.headers['x-amz-sns-subscription-arn']).toMatch(/:[0-9a-f-]{36}$/)
    const { id } = await world.call('GET', '/v1/notifications/subscriptions').then(([first]) => first)
    expect((await fetch(message!.UnsubscribeURL!)).status).toBe(200)
    const [{ subscriptionDetails }] = await world.call('GET', '/v1/notifications/subscriptions')
    expect(subscriptionDetails.map(({ status }: { status: string }) => status)).toEqual([
      'deleted',
      'confirmed',
    ])
    await world.call('DELETE', `/v1/notifications/subscriptions/${id}`)
  })

  it('notifications of payouts and of transfers in both directions equal their GET', async () => {
    await fundMerchantWallet(world, 10_000_000n)
    await subscribe()
    const last = (type: string, key: string, id: string) =>
      sink.notices(type).findLast((notice) => notice[key].id === id)?.[key]
    const untilNotified = (type: string, key: string, id: string) =>
      until(async () => last(type, key, id)?.status === 'complete', `${type} are reported complete`)

    const payout = await makePayout(world)
    await untilNotified('payouts', 'payout', payout.id)
    expect(last('payouts', 'payout', payout.id)).toEqual(await get('/v1/payouts', payout.id))

    const out = await makeBusinessTransfer(world)
    await untilNotified('transfers', 'transfer', out.id)
    const transfers = () => sink.notices('transfers').map((notice) => notice['transfer'])
    expect(last('transfers', 'transfer', out.id)).toEqual(await get('/v1/businessAccount/transfers', out.id))
    expect(transfers().map(({ status }) => status)).toEqual(['pending', 'running', 'complete'])

    const { address } = await world.call('POST', '/v1/businessAccount/wallets/addresses/deposit', {
      idempotencyKey: randomUUID(),
      chain: 'BASE',
      currency: 'USD',
    })
    await harness.chain().send(address, 2_000_000n, 'USDC')
    const incoming = () => transfers().find(({ destination }) => destination.address === address)
    await until(async () => incoming() !== undefined, 'the incoming transfer is reported')
    const { id } = incoming()
    await untilNotified('transfers', 'transfer', id)
    expect(last('transfers', 'transfer', id)).toEqual(await get('/v1/businessAccount/transfers', id))
  })

  it('show a paid payment and its complete intent together, in either order', async () => {
    const seen: unknown[] = []
    await subscribe()
    sink.behave((received, _, taken) => {
      if (received.method !== 'POST') return taken()
      const notice = JSON.parse(JSON.parse(received.body).Message)
      const look = async () => {
        if (notice.payment?.status === 'paid')
          seen.push((await get('/v1/paymentIntents', notice.payment.paymentIntentId)).timeline[0].status)
        if (notice.paymentIntent?.timeline[0].status === 'complete')
          seen.push((await get('/v1/payments', notice.paymentIntent.paymentIds[0])).status)
      }
      void look().finally(taken)
    })
    const intents = await Promise.all(
      ['1', '2', '3'].map((amount) => world.call('POST', '/v1/paymentIntents', transient(amount))),
    )
    for (const intent of intents)
      await harness
        .chain()
        .send(
          intent.paymentMethods[0].address,
          BigInt(intent.amount.amount.replace('.', '')) * 10_000n,
          'USDC',
        )
    await until(async () => seen.length === 6, 'three payments and three intents are reported')
    expect(seen.toSorted()).toEqual(['complete', 'complete', 'complete', 'paid', 'paid', 'paid'])
  })

  it('property 20: report reverted payments after a reorg, and those of the winning chain', async () => {
    await subscribe()
    const { depositAddress } = await makePaymentIntent(world)
    const { id } = await makePayment(world, depositAddress)
    await until(async () => statuses(sink.notices(), id).at(-1) === 'paid', 'it is paid')
    const notified = () => statuses(sink.notices(), id)
    const lastIntent = () => sink.notices('paymentIntents').at(-1)!['paymentIntent']
    expect(notified()).toEqual(['pending', 'confirmed', 'paid'])
    await until(async () => lastIntent().amountPaid.amount !== '0.00', 'the intent reports its paid amount')
    await harness.chain().reorg(1)
    await until(async () => notified().length === 4, 'the payment is taken back')
    expect(notified().at(-1)).toBe('pending')
    await until(async () => lastIntent().amountPaid.amount === '0.00', 'the intent has nothing again')
    // The payment is not mined again, and after this many blocks it is given up.
    await harness.chain().mine(14)
    await until(async () => notified().length === 5, 'the payment is given up')
    const last = sink.notices('payments').findLast(({ payment }) => payment.id === id)?.['payment']
    expect(last).toEqual(await get('/v1/payments', id))
    expect(last.status).toBe('failed')
    expect(lastIntent()).toEqual(await get('/v1/paymentIntents', lastIntent().id))
    expect(await harness.chain().oracle.transfers({ to: depositAddress })).toEqual([])
  })

  it('property 25: omit transfers of zero and of unlisted tokens', async () => {
    await subscribe()
    const { depositAddress } = await makePaymentIntent(world)
    const chain = harness.chain()
    const forger = createWalletClient({
      account: privateKeyToAccount(devAccounts[5]!.privateKey),
      chain: defineChain({
        id: chain.chainId,
        name: chain.blockchain,
        nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
        rpcUrls: { default: { http: [chain.rpcUrl] } },
      }),
      transport: http(),
    }).extend(publicActions)
    const hash = await forger.deployContract({ abi: lyingTokenAbi, bytecode: lyingTokenBytecode })
    const { contractAddress } = await forger.waitForTransactionReceipt({ hash })
    const to = depositAddress as `0x${string}`
    await forger.writeContract({
      address: contractAddress!,
      abi: lyingTokenAbi,
      functionName: 'forge',
      args: [forger.account.address, to, 10n ** 12n, 1n],
    })
    await chain.send(depositAddress, 0n, 'USDC')
    const { id } = await makePayment(world, depositAddress)
    await until(async () => statuses(sink.notices(), id).at(-1) === 'paid', 'the real payment is reported')
    expect(sink.notices('payments').every(({ payment }) => payment.id === id)).toBe(true)
  })

  it('missed by a stopped server are sent once each after its restart', async () => {
    await subscribe()
    const { depositAddress } = await makePaymentIntent(world)
    await harness.stopEngines()
    const hashes: string[] = []
    for (let count = 1; count <= 3; count++) {
      hashes.push(await harness.chain().send(depositAddress, BigInt(count) * 1_000_000n, 'USDC'))
      await harness.chain().mine(isDeep ? 20 : 3)
    }
    harness.startEngines()
    const notified = (hash: string) =>
      sink
        .notices('payments')
        .filter(({ payment }) => payment.transactionHash === hash)
        .map(({ payment }) => payment.status)
    await until(async () => hashes.every((hash) => notified(hash).at(-1) === 'paid'), 'all are reported paid')
    for (const hash of hashes) expect(notified(hash)).toEqual(['pending', 'confirmed', 'paid'])
  })

  it('are signed with SHA-256 when configured', async () => {
    await subscribe()
    harness.ctx.config.notificationSignature = 2
    await makePaymentIntent(world)
    // The sink accepts no message whose signature does not match.
    await until(async () => sink.notices().length === 1, 'the intent is reported')
    harness.ctx.config.notificationSignature = 1
    expect(sink.messages('Notification')[0]!.SignatureVersion).toBe('2')
  })

  it('show a running transfer as pending for clients that do not know running', async () => {
    const { config } = harness.ctx
    await fundMerchantWallet(world, 10_000_000n)
    await subscribe()
    config.transferRunning = false
    try {
      await makeBusinessTransfer(world)
      const notified = () => sink.notices('transfers').map(({ transfer }) => transfer)
      await until(async () => notified().at(-1)?.status === 'complete', 'the transfer is reported complete')
      expect(notified().map(({ status }) => status)).toEqual(['pending', 'pending', 'complete'])
    } finally {
      config.transferRunning = true
    }
  })

  it('cover events of the entity after the confirmation, each once', async () => {
    await makePaymentIntent(world)
    await subscribe()
    const stranger = worldOf(harness, await harness.newEntity())
    await makePaymentIntent(stranger)
    const { id } = await makePaymentIntent(world)
    await until(async () => sink.notices().length > 0, 'the second intent is reported')
    await sleep(300)
    expect(sink.notices().map((notice) => notice['paymentIntent'].id)).toEqual([id])
  })

  it('are sent once with several workers', async () => {
    const count = isDeep ? 30 : 8
    await subscribe()
    const others = [startWebhooks(harness.ctx, topics), startWebhooks(harness.ctx, topics)]
    const made = await Promise.all(Array.from({ length: count }, () => makePaymentIntent(world)))
    await until(async () => sink.notices().length >= made.length, 'all are reported')
    await Promise.all(others.map((each) => each.stop()))
    const notified = sink.notices().map((notice) => notice['paymentIntent'].id)
    expect(notified.toSorted()).toEqual(made.map(({ id }) => id).toSorted())
  })

  it('include an event that commits after later ones', async () => {
    await subscribe()
    const first = await makePaymentIntent(world)
    await until(async () => sink.notices().length === 1, 'the intent is reported')
    const { entityId } = world.tenant
    const nowMs = harness.clock.nowMs()
    const late = newId(nowMs)
    let second: { id: string } | undefined
    await harness.database.tx(async (tx) => {
      // Changes a visible field, so that a notification is due.
      await tx.run(
        sql`update payment_intents set update_date = (update_date at time zone 'UTC' + interval '1 s') at time zone 'UTC'
          where entity_id = ${entityId} and id = ${first.id}`,
      )
      const change = { entityId, actor: 'test', type: 'paymentIntent.credited', resourceId: first.id }
      await recordChanges(tx, nowMs, [change])
      second = await makePaymentIntent(world)
      await until(async () => sink.notices().length === 2, 'what came later and committed first is reported')
      expect(sink.notices().at(-1)!['paymentIntent'].id).toBe(second.id)
      expect(sink.notices().at(-1)!.messageId > late).toBe(true)
    }, unlimited)
    await until(async () => sink.notices().length === 3, 'the late one is reported')
    expect(sink.notices().at(-1)!['paymentIntent'].id).toBe(first.id)
    const { count } = await harness.database.one<{ count: number }>(
      sql`select count(*) as count from queued_events where entity_id = ${entityId}`,
    )
    expect(count).toBe(0)
  })
})
