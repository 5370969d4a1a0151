/** Events as a list and as a stream that a client can leave and resume. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { makeWalletSet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
})
afterAll(() => harness?.close())

type Event = { id: string; type: string; resourceId: string; actor: string; data?: Record<string, unknown> }
type Message = { id: string; event: string; data: string }

const list = (query = ''): Promise<Event[]> => world.call('GET', `/operator/events?${query}`)

/** A client of the stream, which reads with `fetch` as a page would. */
async function follow(query = '', lastEventId?: string, key = harness.apiKey) {
  const leave = new AbortController()
  const response = await fetch(`${harness.url}/operator/events/stream?${query}`, {
    headers: { Authorization: `Bearer ${key}`, ...(lastEventId && { 'Last-Event-ID': lastEventId }) },
    signal: leave.signal,
  })
  const messages: Message[] = []
  let comments = 0
  let isOver = false
  const read = async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      const parts = text.split('\n\n')
      text = parts.pop()!
      const told = parts.filter((part) => !part.startsWith(':'))
      comments += parts.length - told.length
      messages.push(...told.map(messageOf))
    }
  }
  const ended = (response.ok ? read() : Promise.resolve())
    .catch(() => undefined)
    .then(() => void (isOver = true))
  const close = () => {
    leave.abort()
    return ended
  }
  return { response, messages, comments: () => comments, close, isOver: () => isOver }
}

function messageOf(part: string): Message {
  const fields = part
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)])
  return Object.fromEntries(fields) as Message
}

it('lists the changes of resources with their actors, by type and by resource', async () => {
  const { walletSet } = await makeWalletSet(world, 'Told')
  const [event] = await list(`resourceId=${walletSet.id}`)
  expect(event).toMatchObject({
    type: 'walletSet.created',
    resourceId: walletSet.id,
    actor: expect.stringMatching(/^key:/),
  })
  expect(event).toMatchObject({ requestId: expect.any(String), recordedDate: expect.any(String) })
  const transfer = await world.transfer()
  await until(
    async () => (await list(`resourceId=${transfer.id}&type=transaction.complete`)).length === 1,
    'it is complete',
  )
  const ofTransfer = await list(`resourceId=${transfer.id}`)
  expect(
    ofTransfer
      .map(({ type }) => type)
      .reverse()
      .slice(0, 4),
  ).toEqual(['transaction.initiated', 'transaction.cleared', 'transaction.queued', 'transaction.sent'])
  expect(await list(`resourceId=${transfer.id}&type=transaction.*`)).toEqual(ofTransfer)
  const sets = await list('type=walletSet.*&pageSize=50')
  expect(new Set(sets.map(({ type }) => type))).toEqual(new Set(['walletSet.created']))
  expect(await list('type=gift.*')).toEqual([])
  expect(await list(`type=gift.*&pageAfter=${sets[0]!.id}`)).toEqual([])
  const stranger = await harness.http('GET', `/operator/events?type=gift.*&pageAfter=${randomUUID()}`)
  expect([stranger.status, stranger.body.errors[0].location]).toEqual([404, 'pageAfter'])
  const [second] = ofTransfer.slice(1)
  const [third] = await list(
    `resourceId=${transfer.id}&type=transaction.*&pageSize=1&pageAfter=${second!.id}`,
  )
  expect(third).toEqual(ofTransfer[2])
  const wrong = await harness.http('GET', '/operator/events?type=*')
  expect([wrong.status, wrong.body.errors[0].location]).toEqual([400, 'type'])
})

it('property 170: a client that leaves and resumes gets every event once, in the order of the trail', async () => {
  const tenant = await harness.newEntity()
  const own = worldOf(harness, tenant)
  const begin = await follow('', undefined, tenant.apiKey)
  let client = begin
  const got: Message[] = []
  const { walletSet } = await makeWalletSet(own, 'First')
  for (let round = 0; round < 4; round++) {
    await Promise.all(Array.from({ length: 6 }, (_, index) => makeWalletSet(own, `Set ${round}.${index}`)))
    await until(() => client.messages.length > 0, 'events arrive')
    await client.close()
    got.push(...client.messages)
    client = await follow('', got.at(-1)!.id, tenant.apiKey)
  }
  const all = (await own.call('GET', '/operator/events?type=walletSet.*&pageSize=50')) as Event[]
  expect(all).toHaveLength(25)
  const ofSets = () => [...got, ...client.messages].filter(({ event }) => event === 'walletSet.created')
  await until(() => ofSets().length >= all.length, 'the rest arrives')
  await client.close()
  expect(new Set(ofSets().map(({ id }) => id))).toEqual(new Set(all.map(({ id }) => id)))
  expect(ofSets()).toHaveLength(all.length)
  const [first] = ofSets()
  expect(JSON.parse(first!.data)).toMatchObject({
    id: first!.id,
    type: 'walletSet.created',
    resourceId: walletSet.id,
  })
  const positions = await harness.database.all<{ id: string }>(
    sql`select audit_id as id from audit_links where entity_id = ${tenant.entityId} order by position`,
  )
  const trail = positions.map(({ id }) => id).filter((id) => all.some((event) => event.id === id))
  expect(ofSets().map(({ id }) => id)).toEqual(trail)
})

it('tells a client that is far behind of the gap', async () => {
  const tenant = await harness.newEntity()
  const own = worldOf(harness, tenant)
  await makeWalletSet(own)
  const [event] = (await own.call('GET', '/operator/events?type=walletSet.created')) as Event[]
  const changes = Array.from({ length: 6_000 }, (_, index) => ({
    entityId: tenant.entityId,
    actor: 'test',
    type: 'test.made',
    resourceId: String(index),
  }))
  await harness.database.tx((tx) => recordChanges(tx, harness.ctx.clock.nowMs(), changes))
  const isLinked = async () =>
    (await harness.database.all(sql`select 1 from unlinked_audit where entity_id = ${tenant.entityId}`))
      .length === 0
  await until(isLinked, 'all have their links')
  const client = await follow('', event!.id, tenant.apiKey)
  await until(() => client.messages.some(({ event: kind }) => kind === 'gap'), 'the gap is told')
  const told = client.messages.find(({ event: kind }) => kind === 'gap')!
  expect(JSON.parse(told.data)).toEqual({ from: expect.any(String), to: told.id })
  const { walletSet } = await makeWalletSet(own)
  const isTold = () => client.messages.some(({ data }) => data.includes(walletSet.id))
  await until(isTold, 'what happens after the gap is told')
  await client.close()
})

it('refuses what it cannot follow, and bounds the streams of a key', async () => {
  for (const [query, header, location] of [
    [`after=${randomUUID()}`, undefined, 'after'],
    ['', randomUUID(), 'Last-Event-ID'],
    ['', 'yesterday', 'Last-Event-ID'],
    ['type=gift', undefined, 'type'],
  ] as const) {
    const { response } = await follow(query, header)
    const { errors } = (await response.json()) as { errors: { location: string }[] }
    expect([response.status, errors[0]!.location]).toEqual([400, location])
  }
  const tenant = await harness.newEntity()
  const asked = await Promise.all(Array.from({ length: 12 }, () => follow('', undefined, tenant.apiKey)))
  const open = asked.filter(({ response }) => response.status === 200)
  expect(open).toHaveLength(8)
  const ninth = await follow('', undefined, tenant.apiKey)
  const { message } = (await ninth.response.json()) as { message: string }
  expect([ninth.response.status, message]).toEqual([429, expect.stringContaining('close one')])
  await open[0]!.close()
  const reopened = async () => {
    const next = await follow('', undefined, tenant.apiKey)
    await next.close()
    return next.response.status === 200
  }
  await until(reopened, 'a closed stream makes room')
  expect((await harness.http('HEAD', '/operator/events/stream')).status).toBe(404)
  // A page that is loaded again opens a stream before that of the load before had anything to send.
  const kept = open[1]!
  await Promise.all(open.filter((each) => each !== kept).map(({ close }) => close()))
  const sent = kept.comments()
  for (let load = 0; load < 12; load += 1) await until(reopened, 'a page that is loaded again has its stream')
  expect(kept.comments()).toBe(sent)
  await kept.close()
})
