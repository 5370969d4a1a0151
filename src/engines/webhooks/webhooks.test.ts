import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { topics } from '#api/index'
import { sql } from '#runtime/db/db'
import { createCaller } from '#runtime/outbound/call'
import { freshAddress, makeWallet, type Wallet, type World, worldOf } from '#testing/builders/world'
import { unlimited } from '#testing/databases/blocked-sessions'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { killDelivery } from '#testing/processes/killed-delivery'
import { isDeep } from '#testing/runner/size'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'
import { disableAfterMs, noticeAfterMs } from './failing-endpoints.ts'
import { startWebhooks } from './index.ts'
import { backlogMax } from './store/queue.ts'

/* Webhooks of wallets: each state once, as its GET showed it, signed, in order, to the subscribers of its entity alone. */
let harness: Harness
const receivers: WebhookReceiver[] = []

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()))
  await harness?.close()
})

const path = '/v2/notifications/subscriptions'

async function receiverOf(world: World, notificationTypes?: readonly string[]) {
  const receiver = await openWebhookReceiver(world.tenant.http)
  receivers.push(receiver)
  const body = { endpoint: receiver.url, ...(notificationTypes && { notificationTypes }) }
  const { id } = await world.call('POST', path, body)
  return { receiver, subscriptionId: id as string }
}

async function subscriber(notificationTypes?: readonly string[]) {
  const world = worldOf(harness, await harness.newEntity())
  const { receiver, subscriptionId } = await receiverOf(world, notificationTypes)
  return { world, receiver, subscriptionId, entityId: world.tenant.entityId }
}

/** Pays USDC from outside to a wallet of this world, which makes one inbound transaction with two states. */
async function receive(world: World, wallet?: Wallet): Promise<string> {
  return harness.chain().send((wallet ?? (await world.wallet())).address, 1_000_000n, 'USDC')
}

async function transfer(world: World): Promise<string> {
  const { id } = await world.call('POST', '/v1/w3s/developer/transactions/transfer', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await world.tenant.sealSecret(),
    walletId: (await world.fundedWallet()).id,
    tokenId: world.usdcId,
    destinationAddress: freshAddress(),
    amounts: ['0.5'],
    feeLevel: 'MEDIUM',
    refId: 'naïve "order" \u{1f6d2}',
  })
  return id
}

const get = async (world: World, id: string) =>
  (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction
const about = (receiver: WebhookReceiver, id: string) =>
  receiver.webhooks().filter(({ notification }) => notification.id === id)
const statesOf = (receiver: WebhookReceiver, id: string): string[] =>
  about(receiver, id).map(({ notification }) => notification.state)
const untilStates = (receiver: WebhookReceiver, id: string, states: readonly string[]) =>
  until(async () => statesOf(receiver, id).join() === states.join(), `${id} is reported as ${states}`)
const outbound = ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'CONFIRMED', 'COMPLETE']

/** Keeps the events of an entity from being written as notifications until `work` has ended. */
const whileQueued = (entityId: string, work: () => Promise<void>) =>
  harness.database.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`notifications of ${entityId}`}, 0))`)
    await work()
  }, unlimited)

/** Moves the clock and wakes the workers, after the round of this entity has ended: backoffs of that round start then. */
async function pass(ms: number, entityId: string): Promise<void> {
  const leased = sql`select 1 from notification_subscriptions where entity_id = ${entityId} and lease_until > now()`
  await until(async () => (await harness.database.all(leased)).length === 0, 'the round has ended')
  harness.clock.moveMs(ms)
  await harness.database.run(sql`select pg_notify('notification_deliveries', '')`)
}

const attemptsOf = (entityId: string) =>
  harness.database.all<{
    number: number
    status: number | null
  }>(sql`select number, status from notification_attempts
    where entity_id = ${entityId} order by create_date, number`)

describe('webhooks', () => {
  it('report each state of an outbound and an inbound transaction as its GET shows it', async () => {
    const { world, receiver, subscriptionId } = await subscriber()
    const id = await transfer(world)
    await untilStates(receiver, id, outbound)
    const webhooks = about(receiver, id)
    const shown = await get(world, id)
    expect(webhooks.at(-1)!.notification).toEqual(shown)
    const last = receiver.received.findLast(({ body }) => body.includes(webhooks.at(-1)!.notificationId))!
    // The bytes of the resource are those of its GET.
    const answer = await world.tenant.http('GET', `/v1/w3s/transactions/${id}`)
    expect(last.body).toContain(`"notification":${JSON.stringify(answer.body.data.transaction)},"timestamp"`)
    for (const { notificationType, subscriptionId: of, version, notification } of webhooks) {
      expect([notificationType, of, version]).toEqual(['transactions.outbound', subscriptionId, 2])
      const { state } = notification
      const [isSent, isMined] = [outbound.indexOf(state) > 2, outbound.indexOf(state) > 3]
      expect([state, 'txHash' in notification]).toEqual([state, isSent])
      expect([state, 'blockHash' in notification, notification.networkFee !== '']).toEqual([
        ...[state, isMined, isMined],
      ])
      expect([state, 'estimatedFee' in notification]).toEqual([state, outbound.indexOf(state) > 1])
    }
    expect(new Set(webhooks.map(({ notificationId }) => notificationId)).size).toBe(outbound.length)

    const inbound = () =>
      receiver.webhooks().filter(({ notificationType }) => notificationType.endsWith('.inbound'))
    // The native coins and the stablecoins that funded the wallet.
    await until(async () => inbound().length === 4, 'both states of both payments are reported')
    expect(
      inbound()
        .map(({ notification }) => notification.state)
        .toSorted(),
    ).toEqual(['COMPLETE', 'COMPLETE', 'CONFIRMED', 'CONFIRMED'])
    const complete = inbound().find(({ notification }) => notification.state === 'COMPLETE')!.notification
    expect(complete).toEqual(await get(world, complete.id))
  })

  it('property 50: are in order by their header, whenever they are written, also through a reorg', async () => {
    const { world, receiver, entityId } = await subscriber(['transactions.outbound'])
    const chain = harness.chain()
    await world.fundedWallet()
    let id = ''
    await whileQueued(entityId, async () => {
      id = await transfer(world)
      await until(async () => (await get(world, id)).state === 'COMPLETE', 'it is complete')
      const { blockHash } = await get(world, id)
      await chain.reorg(1)
      const isAgain = async () => {
        const { state, blockHash: other } = await get(world, id)
        return state === 'COMPLETE' && other !== blockHash
      }
      await until(isAgain, 'it is complete in another block')
    })
    await untilStates(receiver, id, [...outbound, 'SENT', 'CONFIRMED', 'COMPLETE'])
    const webhooks = about(receiver, id)
    const orders = webhooks.map(({ order }) => order)
    expect(orders).toEqual([...new Set(orders)].sort((one, other) => one - other))
    const blocks = webhooks.map(({ notification }) => notification.blockHash)
    expect([blocks[3], blocks[4], blocks[6]]).toEqual([undefined, blocks[5], undefined])
    expect([blocks[7], blocks[5]]).toEqual([blocks[8], expect.not.stringMatching(blocks[7])])
    expect(webhooks.at(-1)!.notification).toEqual(await get(world, id))
    expect(receiver.webhooks().every(({ notificationType }) => notificationType.endsWith('outbound'))).toBe(
      true,
    )
  })

  it('reach the subscriptions of their entity for their type, while these are enabled', async () => {
    const { world, receiver: inbound, subscriptionId } = await subscriber(['transactions.inbound'])
    const { receiver: all } = await receiverOf(world, ['contracts.*', 'transactions.*'])
    const { receiver: contracts } = await receiverOf(world, ['contracts.eventLog'])
    const other = await subscriber()
    const wallet = await makeWallet(world)
    await receive(world, wallet)
    const count = (receiver: WebhookReceiver) => receiver.webhooks().length
    await until(async () => count(inbound) === 2 && count(all) === 2, 'both states are reported')
    await world.call('PATCH', `${path}/${subscriptionId}`, { name: 'Off', enabled: false })
    await receive(world, wallet)
    await until(async () => count(all) === 4, 'the other one is still told')
    await world.call('PATCH', `${path}/${subscriptionId}`, { name: 'On', enabled: true })
    await receive(world, wallet)
    await until(async () => count(inbound) === 4 && count(all) === 6, 'what comes later is reported again')
    await receive(other.world)
    await until(async () => count(other.receiver) === 2, 'the other entity is told of its own')
    expect([count(contracts), count(inbound), count(all)]).toEqual([0, 4, 6])
  })

  it('property 50: are sent again unchanged under the same id, with a signature of that attempt', async () => {
    const { world, receiver, entityId } = await subscriber()
    receiver.behave((_, response, taken) =>
      receiver.received.filter(({ method }) => method === 'POST').length < 4
        ? void response.writeHead(503).end()
        : taken(),
    )
    await receive(world, await makeWallet(world))
    for (const count of [1, 2, 3]) {
      await until(async () => (await attemptsOf(entityId)).length >= count, `try ${count} is recorded`)
      await pass(60_000, entityId)
    }
    await until(async () => receiver.webhooks().length === 2, 'both states are taken')
    const [first, ...posts] = receiver.received.filter(({ body }) => body.includes('"CONFIRMED"'))
    expect(posts.length).toBeGreaterThan(0)
    for (const { body, headers } of posts) {
      expect(body).toBe(first!.body)
      expect(headers['webhook-id']).toBe(first!.headers['webhook-id'])
      expect(Number(headers['webhook-timestamp'])).toBeGreaterThan(
        Number(first!.headers['webhook-timestamp']),
      )
    }
  })

  it('property 50: reach a receiver again that answered a worker which is killed before it records that', async () => {
    const { world, receiver, subscriptionId, entityId } = await subscriber(['transactions.outbound'])
    await world.fundedWallet()
    const { cause: id, takeOver } = await killDelivery(harness, subscriptionId, () => transfer(world))
    expect([receiver.webhooks().length, await attemptsOf(entityId)]).toEqual([1, []])
    await takeOver(async () => {
      await until(async () => (await attemptsOf(entityId)).length === 1, 'the heir has sent it')
      const [once, again] = receiver.webhooks()
      expect(again).toEqual(once)
      expect(once!.notification).toMatchObject({ id, state: 'INITIATED' })
    })
  })

  it('property 50: reach healthy endpoints while twelve others of the entity never answer', async () => {
    const types = ['transactions.outbound']
    const { world, receiver } = await subscriber(types)
    await world.fundedWallet()
    const dead = await openWebhookReceiver(world.tenant.http)
    receivers.push(dead)
    const count = 12
    for (let index = 0; index < count; index++)
      await world.call('POST', path, { endpoint: `${dead.url}/${index}`, notificationTypes: types })
    const held: (() => void)[] = []
    dead.behave((_, __, taken) => void held.push(taken))
    await harness.stopEngines()
    // The call has no other end than the end of this test.
    const call = createCaller('loopback')
    const webhooks = startWebhooks(harness.ctx, topics, (given) => call({ ...given, timeoutMs: 600_000 }))
    await transfer(world)
    await until(async () => held.length >= count, 'all dead endpoints are being waited for')
    const transfers = isDeep ? 50 : 4
    for (let index = 0; index < transfers; index++) await transfer(world)
    await until(async () => receiver.webhooks().length === transfers + 1, 'the healthy one has everything')
    expect(dead.webhooks()).toEqual([])
    dead.behave()
    for (const taken of held) taken()
    const all = count * (transfers + 1)
    await until(async () => dead.webhooks().length === all, 'the others have everything in the end')
    await webhooks.stop()
    harness.startEngines()
  })

  it('stop after days of failures, with notice, and go on when their owner enables them', async () => {
    const { world, receiver, subscriptionId, entityId } = await subscriber()
    const read = () => world.call('GET', `${path}/${subscriptionId}`)
    const typesOf = async () =>
      (
        await harness.database.all<{ type: string }>(sql`select type from events
          where entity_id = ${entityId} and resource_id = ${subscriptionId} order by create_date, id`)
      ).map(({ type }) => type)
    receiver.behave((_, response) => void response.writeHead(500).end())
    const raised = countAlarm('webhook-endpoint-failing')
    const wallet = await makeWallet(world)
    let tried = 0
    const untilTried = async () => {
      await until(async () => (await attemptsOf(entityId)).length > tried, 'the endpoint is tried')
      tried = (await attemptsOf(entityId)).length
    }
    await receive(world, wallet)
    await untilTried()
    await until(async () => (await read()).failingSince !== undefined, 'the failure is shown')
    const { failingSince, disableDate, enabled } = await read()
    expect([enabled, Date.parse(disableDate) - Date.parse(failingSince)]).toEqual([true, disableAfterMs])
    await pass(noticeAfterMs, entityId)
    await untilTried()
    await until(async () => (await typesOf()).includes('subscription.failing'), 'notice is given')
    await receive(world, wallet)
    const queued = async () =>
      (await harness.database.all(sql`select 1 from notification_deliveries where entity_id = ${entityId}`))
        .length
    await until(async () => (await queued()) === 4, 'both states of both transactions are queued')
    await pass(disableAfterMs, entityId)
    await until(async () => !(await read()).enabled, 'the endpoint is disabled')
    expect(await typesOf()).toEqual(['created', 'failing', 'disabled'].map((type) => `subscription.${type}`))
    const states = await harness.database.all(sql`select distinct state from notification_deliveries
      where entity_id = ${entityId}`)
    expect(states).toEqual([{ state: 'failed' }])
    expect(raised()).toBe(2)
    receiver.behave()
    const shown = await world.call('PATCH', `${path}/${subscriptionId}`, { name: 'Repaired', enabled: true })
    expect(shown).not.toHaveProperty('failingSince')
    const later = await receive(world, wallet)
    const arrived = () => receiver.webhooks().filter(({ notification }) => notification.txHash === later)
    await until(async () => arrived().length === 2, 'what comes later is delivered')
  })

  it('raise an alarm once their backlog is full, and the oldest of them are dropped', async () => {
    const { world, receiver, subscriptionId, entityId } = await subscriber()
    const raised = countAlarm('webhook-backlog-full')
    receiver.behave((_, response) => void response.writeHead(500).end())
    await receive(world)
    await until(async () => (await attemptsOf(entityId)).length > 0, 'the endpoint is tried')
    // As if so many others were queued behind it.
    await harness.database.run(sql`update notification_subscriptions set queued_count = ${backlogMax}
      where entity_id = ${entityId} and id = ${subscriptionId}`)
    await receive(world)
    await until(() => raised() > 0, 'the alarm is raised')
    expect((await world.call('GET', `${path}/${subscriptionId}`)).droppedCount).toBeGreaterThan(0)
  })
})

describe('an event that cannot be shown', () => {
  /** An event of an address on a chain, which may be one that the configuration no longer names. */
  const queue = async (entityId: string, blockchain: string) => {
    const id = randomUUID()
    await harness.database.run(sql`insert into gateway_events (entity_id, id, kind, blockchain, subject, address, amount,
        from_address, to_address, tx_hash, create_date)
      values (${entityId}, ${id}, 'deposit.finalized', ${blockchain}, ${id}, '0x1', 5000000, '0x2', '0x3', '0x4', now())`)
    await harness.database.run(sql`insert into queued_events (entity_id, id, type, resource_id, update_date, create_date)
      values (${entityId}, ${randomUUID()}, 'gatewayEvent.created', ${id}, now(), now())`)
    return id
  }
  const messageOf = (entityId: string, id: string) =>
    harness.database.maybe<{ message: string }>(
      sql`select message from notifications where entity_id = ${entityId} and resource_id = ${id}`,
    )

  it('delays no other of its entity, and is dropped with an alarm at last', async () => {
    const { world, receiver, entityId } = await subscriber()
    const raised = countAlarm('webhook-event-dropped')
    const unknown = await queue(entityId, 'NOWHERE')
    const known = await queue(entityId, 'ARC-TESTNET')
    const txHash = await receive(world)
    const arrived = () => receiver.webhooks().filter(({ notification }) => notification.txHash === txHash)
    await until(async () => arrived().length === 2, 'what comes later is delivered')
    expect(JSON.parse((await messageOf(entityId, known))!.message)).toMatchObject({
      amount: '5.000000',
      tokenAddress: '0x3600000000000000000000000000000000000000',
    })
    const waiting = () =>
      harness.database.all(sql`select 1 from queued_events where entity_id = ${entityId} and is_held`)
    expect([raised(), (await waiting()).length]).toEqual([0, 1])
    harness.clock.moveMs(3_700_000)
    await harness.database.run(sql`select pg_notify('queued_events', '')`)
    await until(() => raised() === 1, 'the alarm is raised')
    await until(async () => (await waiting()).length === 0, 'it is dropped')
    expect(await messageOf(entityId, unknown)).toBeUndefined()
  })
})
