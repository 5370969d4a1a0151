/** `bezant listen` as a developer runs it: a process beside the sandbox, which posts to a real server. */
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { freshAddress, makeTransfer, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { type Listening, startListening } from '#testing/processes/listening'
import { sizeOf } from '#testing/runner/size'
import type { Received } from '#testing/servers/receiver'
import { openWebhookSink, type WebhookSink } from '#testing/servers/webhook-sink'

let harness: Harness
let world: World
let sink: WebhookSink
let from: string
const open: Listening[] = []

/** Recipients, each of which is reported at least twice: when it is made, and when it is active. */
const recipients = sizeOf('LISTEN_RECIPIENTS', { usual: 60, deep: 500 })

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  sink = await openWebhookSink()
})
beforeEach(() => {
  sink.behave()
  from = new Date(harness.clock.nowMs()).toISOString()
})
afterAll(async () => {
  for (const each of open) await each.end('SIGKILL')
  await sink?.close()
  await harness?.close()
})

async function listen(...args: string[]): Promise<Listening> {
  const started = await startListening(harness.url, ...args)
  open.push(started)
  return started
}
const forward = (...args: string[]) => listen('--forward-to', `${sink.url}?key=1`, ...args)
const bezant = (...args: string[]) =>
  runCommand({ command: 'listen', args, env: { BEZANT_URL: harness.url } })

const makeRecipient = (): Promise<{ id: string }> =>
  world.call('POST', '/v1/addressBook/recipients', {
    idempotencyKey: randomUUID(),
    chain: 'BASE',
    address: freshAddress(),
    metadata: {},
  })
const notified = (id: string) => world.call('GET', `/operator/notifications?resourceId=${id}&pageSize=50`)
const logged = (messageId: string) => world.call('GET', `/operator/notifications/${messageId}`)
const messageIdOf = ({ body }: Received): string => JSON.parse(body).MessageId
const posts = (messageId: string) =>
  sink.received.filter((each) => each.method === 'POST' && messageIdOf(each) === messageId)
const subscriptionOf = ({ started }: Listening, line = 'v1'): string =>
  started.subscriptions.find((each: { line: string }) => each.line === line).id

/** The log of every message about these resources, each with its attempts to one subscription. */
async function messagesOf(ids: readonly string[], subscriptionId: string) {
  const lists = await Promise.all(ids.map(notified))
  const messages = await Promise.all(lists.flat().map(({ id }: { id: string }) => logged(id)))
  return messages.map(({ id, resourceId, deliveries }) => {
    const delivery = deliveries.find(
      (each: { subscriptionId: string }) => each.subscriptionId === subscriptionId,
    )
    return { id, resourceId, state: delivery?.state, attempts: delivery?.attempts ?? [] }
  })
}

const statesOf = async (ids: readonly string[], subscriptionId: string) =>
  new Set((await messagesOf(ids, subscriptionId)).map(({ state }) => state))

/** Makes recipients, some at once. */
async function makeRecipients(count: number): Promise<string[]> {
  const ids: string[] = []
  const left = Array.from({ length: count }, (_, index) => index)
  const make = async () => {
    while (left.pop() !== undefined) ids.push((await makeRecipient()).id)
  }
  await Promise.all(Array.from({ length: 6 }, make))
  return ids
}

describe('property 175: what the forwarded endpoint answers is the attempt', () => {
  it('passes the exact bytes and headers on, and 503, 503 and 200 are three attempts with their bodies', async () => {
    const listening = await forward('--topics', 'addressBookRecipients', '--line', 'v1')
    const statuses = [503, 503]
    sink.behave((_, response, taken) => {
      const status = statuses.shift()
      if (status === undefined) return taken()
      response.writeHead(status, { 'x-app': 'shop' }).end(`busy ${statuses.length}`)
    })
    const { id } = await makeRecipient()
    const isDelivered = async () => {
      const [first] = (await notified(id)).toReversed()
      return first !== undefined && (await logged(first.id)).deliveries[0].state === 'delivered'
    }
    await until(isDelivered, 'the first message is delivered')

    const [{ id: messageId }] = (await notified(id)).toReversed()
    const { attempts } = (await messagesOf([id], subscriptionOf(listening))).find(
      (each) => each.id === messageId,
    )!
    expect(attempts.map(({ status }: { status: number }) => status)).toEqual([503, 503, 200])
    expect(attempts.map(({ responseBody }: { responseBody: string }) => responseBody)).toEqual([
      'busy 1',
      'busy 0',
      '',
    ])
    expect(attempts[0].responseHeaders).toMatchObject({ 'x-app': 'shop' })
    expect(Object.keys(attempts[0].responseHeaders)).not.toContain('x-request-id')

    const received = posts(messageId)
    // The sink accepts only what is signed as it arrived.
    expect(received).toHaveLength(3)
    for (const [index, { path, body, headers }] of received.entries()) {
      expect(path).toBe('/notifications?key=1')
      expect(body).toBe(received[0]!.body)
      const { requestHeaders } = attempts[index]
      for (const [name, value] of Object.entries(requestHeaders))
        expect(headers[name.toLowerCase()]).toBe(value)
    }
    const told = () => listening.deliveries().filter((each) => each.messageId === messageId)
    await until(() => told().length === 3, 'each delivery is printed')
    expect(told()[2]).toMatchObject({
      line: 'v1',
      topic: 'addressBookRecipients',
      resourceId: id,
      status: 200,
      durationMs: expect.any(Number),
    })
    expect((await listening.end()).code).toBe(0)
  })

  it('an endpoint without an answer is an attempt that says why', async () => {
    const listening = await listen('--forward-to', 'http://127.0.0.1:9/hook', '--line', 'v1')
    const { id } = await makeRecipient()
    const attempts = async () =>
      (await messagesOf([id], subscriptionOf(listening))).flatMap(({ attempts: each }) => each)
    await until(async () => (await attempts()).length > 0, 'it was attempted')
    expect((await attempts())[0]).toMatchObject({
      status: 502,
      responseBody: 'connect ECONNREFUSED 127.0.0.1:9',
    })
    await listening.end()
  })

  it('webhooks of wallets come too, and what was not asked for is answered without it', async () => {
    const listening = await listen('--topics', 'transactions.*')
    const { id } = await makeTransfer(world)
    const recipient = await makeRecipient()
    const isTold = () =>
      listening.deliveries().some((each) => each.resourceId === id && each.state === 'COMPLETE')
    await until(isTold, 'the transfer is reported')
    await until(async () => {
      const states = await statesOf([recipient.id], subscriptionOf(listening))
      return states.size === 1 && states.has('delivered')
    }, 'the recipient is answered for')
    expect(listening.deliveries().filter(({ resourceId }) => resourceId === recipient.id)).toEqual([])
    await listening.end()
  })
})

describe('property 176: nothing is lost or doubled while the command is away', () => {
  it('killed midway and started again, each message arrives, once for each attempt', async () => {
    const first = await forward('--line', 'v1')
    const before = sink.received.length
    const making = makeRecipients(recipients)
    await until(() => sink.received.length > before + recipients / 2, 'half a message for each has arrived')
    await first.end('SIGKILL')
    const ids = await making
    const second = await forward('--line', 'v1')
    const subscriptionId = subscriptionOf(second)
    expect(subscriptionId).toBe(subscriptionOf(first))
    await until(async () => {
      const states = await statesOf(ids, subscriptionId)
      return states.size === 1 && states.has('delivered')
    }, 'everything is delivered')

    const messages = await messagesOf(ids, subscriptionId)
    expect(messages.length).toBeGreaterThanOrEqual(2 * recipients)
    const ended = 'The client that listens as cli ended before it answered.'
    for (const { id, attempts } of messages) {
      const bodies = attempts.map(({ responseBody }: { responseBody: string }) => responseBody)
      const unanswered = bodies.filter((body: string) => body === ended).length
      // An attempt that the killed command was given may have arrived; every other one that was refused has not.
      const count = posts(id).length
      expect(count).toBeGreaterThanOrEqual(1)
      expect(count).toBeLessThanOrEqual(1 + unanswered)
      expect(attempts.filter(({ status }: { status: number }) => status === 200)).toHaveLength(1)
    }
    await second.end()
  })

  it('a message that is sent again reaches it, and a range of failed ones does in its order', async () => {
    const listening = await forward('--line', 'v1')
    const { id } = await makeRecipient()
    const subscriptionId = subscriptionOf(listening)
    await until(async () => (await statesOf([id], subscriptionId)).has('delivered'), 'one is delivered')
    const delivered = (await messagesOf([id], subscriptionId)).find(({ state }) => state === 'delivered')
    const messageId: string = delivered!.id
    await world.call('POST', `/operator/notifications/${messageId}/resend`, { subscriptionId })
    await until(() => posts(messageId).length === 2, 'it arrives again')
    await listening.end()

    from = new Date(harness.clock.nowMs()).toISOString()
    const ids = await makeRecipients(recipients)
    await until(async () => {
      const states = await statesOf(ids, subscriptionId)
      return states.size === 1 && states.has('waiting')
    }, 'every message waits')
    // As after three days, which an advance of the clock would take minutes for. An attempt under way would undo it.
    await harness.stopEngines()
    await harness.database.run(
      sql`update notification_deliveries set state = 'failed' where subscription_id = ${subscriptionId} and state = 'waiting'`,
    )
    harness.startEngines()
    const again = await forward('--line', 'v1')
    const arrived = sink.received.length
    const to = new Date(harness.clock.nowMs()).toISOString()
    const range = { from, to, state: 'failed', ratePerSecond: 1_000 }
    const replay = await world.call('POST', `/operator/subscriptions/${subscriptionId}/replays`, range)
    expect(replay.total).toBeGreaterThanOrEqual(2 * recipients)
    await until(async () => {
      const { state } = await world.call(
        'GET',
        `/operator/subscriptions/${subscriptionId}/replays/${replay.id}`,
      )
      return state === 'done'
    }, 'the replay is done')
    const came = sink.received.slice(arrived).map(messageIdOf)
    for (const resourceId of ids) {
      const inOrder = (await notified(resourceId)).toReversed().map((each: { id: string }) => each.id)
      expect(came.filter((each) => inOrder.includes(each))).toEqual(inOrder)
    }
    await again.end()
  })
})

describe('property 177: one client at a time, and one that does not answer holds up nothing else', () => {
  it('a second command of the same name takes over, and the first ends with the reason', async () => {
    const first = await forward('--line', 'v1')
    const second = await forward('--line', 'v1')
    expect((await first.exited).code).toBe(1)
    expect(first.stderr()).toBe(
      'bezant: another bezant listen of this name has taken over; choose another one with --name to have both\n',
    )
    const { id } = await makeRecipient()
    await until(() => second.deliveries().some(({ resourceId }) => resourceId === id), 'the second is told')
    expect(first.deliveries()).toEqual([])
    await second.end()
  })

  it('a client that never answers is an endpoint that times out, and an answer after that does not count', async () => {
    const { session, subscriptions } = await world.call('POST', '/sandbox/listeners/silent', { line: 'v1' })
    const waiting = untilDelivery(`${harness.url}/sandbox/listeners/silent?session=${session}`)
    const { id } = await makeRecipient()
    const { data, close } = await waiting
    expect(data).toMatchObject({ resourceId: id, timeoutMs: 10_000 })
    const [{ id: messageId }] = (await notified(id)).toReversed()
    await until(
      async () => (await logged(messageId)).deliveries.some(hasTimedOut(subscriptions[0].id)),
      'it timed out',
    )
    const late = await world.tenant.http('POST', '/sandbox/listeners/silent/answers', {
      body: { deliveryId: data.id, status: 200 },
    })
    expect(late.status).toBe(409)
    close()
    await world.tenant.http('DELETE', '/sandbox/listeners/silent')
    expect(
      (await world.call('GET', '/v1/notifications/subscriptions')).map((each: { id: string }) => each.id),
    ).not.toContain(subscriptions[0].id)
  })
})

const hasTimedOut =
  (subscriptionId: string) =>
  (delivery: { subscriptionId: string; attempts: { error?: string }[] }): boolean =>
    delivery.subscriptionId === subscriptionId && delivery.attempts[0]?.error === 'no answer within 10 s'

/** Opens a stream and reads it up to its first delivery. */
function untilDelivery(url: string): Promise<{ data: Record<string, string>; close(): void }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, (response) => {
      let text = ''
      response.on('error', () => undefined)
      response.on('data', (chunk) => {
        text += chunk
        const [, data] = /event: delivery\ndata: (.+)\n\n/.exec(text) ?? []
        if (data !== undefined) resolve({ data: JSON.parse(data), close: () => sent.destroy() })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('mistakes', () => {
  it.each([
    [
      2,
      ['--forward-to', 'ftp://x'],
      '--forward-to must be an address such as http://localhost:3000/webhooks, not "ftp://x"',
    ],
    [2, ['--line', 'v3'], '--line must be v1, v2 or both, not "v3"'],
    [2, ['--name', 'A b'], '--name must be 1 to 64 of a-z, 0-9 and the hyphen, not "A b"'],
    [2, ['--forward', 'x'], 'unknown option --forward: did you mean --forward-to?'],
    [1, ['--topics', 'payment'], '--topics payment is no topic: did you mean payments?'],
    [
      1,
      ['--url', 'http://127.0.0.1:1025'],
      'no sandbox answers at http://127.0.0.1:1025 (ECONNREFUSED): start one with bezant sandbox, or give its address with --url',
    ],
  ])('exits with %i for %j, and says what to do', async (code, args, problem) => {
    const done = await bezant(...args)
    expect([done.code, done.stderr.split('\n')[0], done.stdout]).toEqual([code, `bezant: ${problem}`, ''])
  })

  it('an answer needs a status or an error, and a stream the session of a listener', async () => {
    const { session } = await world.call('POST', '/sandbox/listeners/strict', { line: 'v2' })
    const http = (method: string, path: string, body?: object) => world.tenant.http(method, path, { body })
    const refused = await http('POST', '/sandbox/listeners/strict/answers', { deliveryId: session })
    expect([refused.status, refused.body.errors[0].location]).toEqual([400, 'status'])
    const unknown = await http('POST', '/sandbox/listeners/strict/answers', {
      deliveryId: session,
      status: 200,
    })
    expect(unknown.status).toBe(409)
    expect((await http('GET', `/sandbox/listeners/strict?session=${randomUUID()}`)).status).toBe(409)
    expect((await http('GET', `/sandbox/listeners/nobody?session=${session}`)).status).toBe(404)
    expect(await world.call('GET', '/sandbox/listeners')).toContainEqual({
      id: 'strict',
      isConnected: false,
      waitingCount: 0,
    })
    const deleted = await bezant('--delete', '--name', 'strict')
    expect([deleted.code, JSON.parse(deleted.stdout)]).toEqual([0, { name: 'strict', isDeleted: true }])
    const again = await bezant('--delete', '--name', 'strict')
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is no listener of this sandbox')])
    expect((await http('DELETE', '/sandbox/listeners/strict')).status).toBe(404)
  })
})

it('a listener for which there is no room leaves no subscription of the other line', async () => {
  const subscribe = (line: 'v1' | 'v2') => `/${line}/notifications/subscriptions`
  const listed = async () => [
    await world.call('GET', subscribe('v2')),
    await world.call('GET', '/sandbox/listeners'),
  ]
  for (const each of await world.call('GET', subscribe('v1')))
    await world.call('DELETE', `${subscribe('v1')}/${each.id}`)
  for (const inbox of ['one', 'two', 'three'])
    await world.call('POST', `/sandbox/catcher/${inbox}/subscriptions`, { line: 'v1' })
  const before = await listed()
  const { status, body } = await harness.http('POST', '/sandbox/listeners/late', { body: {} })
  expect([status, body.message]).toEqual([429, expect.stringContaining('3 subscriptions already')])
  expect(await listed()).toEqual(before)
})
