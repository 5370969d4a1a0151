import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, openHarness } from '#testing/platform/harness'
import { request } from '#testing/platform/http'
import { parseLinkHeader } from '#testing/requests/link-header'
import { openArrivals } from '../arrivals.ts'
import { createInboxes } from './inboxes.ts'

/* An inbox takes anything within its bounds, answers as it is told to, and its messages are a list like all others. */
let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

const path = (inbox: string, rest = '') => `/sandbox/catcher/${inbox}${rest}`
const send = (
  method: string,
  inbox: string,
  body?: string | Uint8Array,
  headers: Record<string, string> = {},
) => request(harness.url + path(inbox), { method, headers, ...(body !== undefined && { body }) })
const http = (method: string, address: string, body?: object) =>
  harness.http(method, address, body ? { body } : {})
const list = async (inbox: string, query = '') =>
  (await http('GET', path(inbox, `/messages?${query}`))).body.data
const behave = (inbox: string, body: object) => http('PUT', path(inbox, '/behaviour'), body)
const catcher = async () => (await http('GET', '/sandbox/catcher')).body.data

/** The status, the code, and the field of a refusal. */
async function refusal(method: string, address: string, body?: object) {
  const { status, body: told } = await http(method, address, body)
  return [status, told.code, told.errors?.[0].location]
}

it('takes any method, media type and bytes, and shows them as they came', async () => {
  const bytes = Buffer.from([0x7b, 0, 0xff, 0xfe])
  const sent: [string, string | Uint8Array | undefined, Record<string, string>][] = [
    ['POST', '{"a":', { 'content-type': 'application/json' }],
    ['POST', 'a=1&a=2', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['PUT', bytes, { 'content-type': 'image/png', 'content-encoding': 'gzip' }],
    ['POST', '', {}],
    ['POST', 'x', { 'content-type': 'nonsense; =' }],
    ['PUT', 'y', { 'content-type': '' }],
    ['POST', 'naïve \u0000 \u{1f6d2}', {}],
    ['GET', undefined, { 'x-twice': 'a, b' }],
    ['HEAD', undefined, {}],
  ]
  for (const [method, body, headers] of sent) {
    const answer = await send(method, 'any?q=1&q=%00&=', body, headers)
    expect([method, answer.status, answer.text]).toEqual([method, 200, ''])
  }
  const caught = (await list('any')).reverse()
  expect(caught.map(({ method, body }: Record<string, string>) => [method, body])).toEqual([
    ['POST', '{"a":'],
    ['POST', 'a=1&a=2'],
    ['PUT', bytes.toString('base64')],
    ['POST', ''],
    ['POST', 'x'],
    ['PUT', 'y'],
    ['POST', 'naïve \u0000 \u{1f6d2}'],
    ['GET', ''],
    ['HEAD', ''],
  ])
  expect(caught[4].headers['content-type']).toBe('nonsense; =')
  expect(caught[2]).toMatchObject({
    bodyEncoding: 'base64',
    bodyBytes: 4,
    path: path('any'),
    query: 'q=1&q=%00&=',
    headers: { 'content-type': 'image/png', 'content-encoding': 'gzip' },
    signature: { state: 'absent' },
  })
  for (const { line, topic, messageId, resourceId } of caught)
    expect([line, topic, messageId, resourceId]).toEqual([undefined, undefined, undefined, undefined])
})

it('answers with its status, its text and after its delay, and by a sequence of which HEAD uses up nothing', async () => {
  await behave('told', { status: 404, body: 'no such thing', delay: 'PT0.001S' })
  const answer = await send('POST', 'told', 'x')
  expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
    404,
    'no such thing',
    'text/plain; charset=utf-8',
  ])
  await behave('told', { sequence: [500, 204, 302], body: 'b' })
  const statuses = []
  for (const method of ['HEAD', 'POST', 'GET', 'PUT', 'POST', 'POST'])
    statuses.push((await send(method, 'told', method.startsWith('P') ? 'x' : undefined)).status)
  expect(statuses).toEqual([500, 500, 204, 204, 302, 302])
  expect((await http('GET', path('told', '/behaviour'))).body.data).toEqual({
    status: 302,
    delay: 'PT0S',
    sequence: [500, 204, 302],
    used: 4,
    body: 'b',
  })
  expect((await http('DELETE', path('told', '/behaviour'))).body.data.status).toBe(200)
  expect((await send('POST', 'told', 'x')).status).toBe(200)
  expect((await http('GET', path('never-used', '/behaviour'))).body.data.status).toBe(200)
  const names = (await catcher()).inboxes.map(({ name }: { name: string }) => name)
  expect([names.includes('told'), names.includes('never-used')]).toEqual([true, false])
})

it('pages its messages with the shared parameters and their Link header', async () => {
  for (let index = 0; index < 5; index++) await send('POST', 'pages', `${index}`)
  const bodies = (answer: { body: { data: { body: string }[] } }) => answer.body.data.map(({ body }) => body)
  const first = await http('GET', path('pages', '/messages?pageSize=2'))
  const follow = (answer: typeof first, rel: string) =>
    http('GET', parseLinkHeader(answer.headers.get('link'))[rel]!.slice(harness.url.length))
  const second = await follow(first, 'next')
  const third = await follow(second, 'next')
  expect([bodies(first), bodies(second), bodies(third)]).toEqual([['4', '3'], ['2', '1'], ['0']])
  await send('POST', 'pages', 'later')
  expect(bodies(await follow(third, 'prev'))).toEqual(['2', '1'])
  expect(bodies(await follow(second, 'prev'))).toEqual(['4', '3'])
  expect(bodies(await follow(second, 'self'))).toEqual(['2', '1'])
  expect(bodies(await follow(second, 'first'))).toEqual(['4', '3'])
  expect(Object.keys(parseLinkHeader(third.headers.get('link'))).sort()).toEqual(['first', 'prev', 'self'])
  const { id, receivedDate } = first.body.data[0]
  const count = async (query: string) => (await list('pages', query)).length
  expect(await count('from=9999-01-01T00:00:00Z')).toBe(0)
  expect(await count('to=2001-01-01T00:00:00Z')).toBe(0)
  expect(await count(`from=${receivedDate}&topic=none`)).toBe(0)
  expect(bodies(await http('GET', path('pages', `/messages?after=${id}`)))).toEqual(['later'])
  // A cursor that the filters exclude starts again.
  expect(await count(`pageAfter=${id}&after=${id}`)).toBe(1)
  for (const [query, status, code] of [
    [`pageAfter=${randomUUID()}`, 404, 156012],
    ['pageAfter=x', 400, 156014],
    [`pageAfter=${id}&pageBefore=${id}`, 400, 2],
    ['pageSize=0', 400, 2],
    ['from=yesterday', 400, 2],
  ] as const)
    expect((await refusal('GET', path('pages', `/messages?${query}`))).slice(0, 2)).toEqual([status, code])
})

it('waits for a message that matches and is newer than another, and ends the wait when it stops', async () => {
  const waiting = list('waited', 'wait=PT30S')
  await send('POST', 'elsewhere', 'x')
  await send('POST', 'waited', 'first')
  const [first] = await waiting
  expect(first.body).toBe('first')
  // A message that is there already is no reason to wait.
  expect((await list('waited', 'wait=PT30S')).map(({ id }: { id: string }) => id)).toEqual([first.id])
  const newer = list('waited', `wait=PT30S&after=${first.id}`)
  await send('POST', 'waited', 'second')
  expect((await newer).map(({ body }: { body: string }) => body)).toEqual(['second'])
  const of = list('waited', 'wait=PT30S&messageId=m')
  await send('POST', 'waited', JSON.stringify({ Type: 'Notification', MessageId: 'other', Message: '{}' }))
  await send('POST', 'waited', JSON.stringify({ Type: 'Notification', MessageId: 'm', Message: '{}' }))
  expect((await of).map(({ messageId }: { messageId: string }) => messageId)).toEqual(['m'])
  expect(await list('waited', `wait=PT0.01S&topic=never`)).toEqual([])
  // A page that ends in the past has nothing to wait for.
  expect(await list('waited', 'wait=PT30S&to=2001-01-01T00:00:00Z')).toEqual([])

  const other = await openHarness({ engines: false })
  const answer = other.http('GET', path('nothing', '/messages?wait=PT30S'))
  await other.http('PUT', path('delaying', '/behaviour'), { body: { delay: 'PT60S' } })
  const delayed = other.http('POST', path('delaying'), { body: 'x' })
  const kept = async () => (await other.http('GET', path('delaying', '/messages?wait=PT30S'))).body.data
  expect(await kept()).toHaveLength(1)
  await other.close()
  // A connection that the stop had to cut would have no answer.
  expect([(await answer).body.data, (await delayed).status]).toEqual([[], 200])
})

it.each([
  ['PUT', '/behaviour', { status: 199 }, 'status'],
  ['PUT', '/behaviour', { status: 600 }, 'status'],
  ['PUT', '/behaviour', { status: '200' }, 'status'],
  ['PUT', '/behaviour', { sequence: [] }, 'sequence'],
  ['PUT', '/behaviour', { sequence: Array(101).fill(200) }, 'sequence'],
  ['PUT', '/behaviour', { sequence: [200, 100] }, 'sequence[1]'],
  ['PUT', '/behaviour', { sequence: [200], status: 200 }, 'status'],
  ['PUT', '/behaviour', { delay: 'PT61S' }, 'delay'],
  ['PUT', '/behaviour', { delay: 'P1D' }, 'delay'],
  ['PUT', '/behaviour', { delay: '5' }, 'delay'],
  ['PUT', '/behaviour', { delay: '-PT1S' }, 'delay'],
  ['PUT', '/behaviour', { body: 'x'.repeat(16_385) }, 'body'],
  ['GET', '/messages?wait=PT31S', undefined, 'wait'],
  ['GET', '/messages?wait=soon', undefined, 'wait'],
  ['GET', '/messages?after=x', undefined, 'after'],
  ['POST', '/subscriptions', { line: 'v3' }, 'line'],
  ['POST', '/subscriptions', { line: 'v2', topics: ['transactions.all'] }, 'topics[0]'],
  ['POST', '/subscriptions', {}, 'line'],
] as const)('refuses %s %s with %j', async (method, rest, body, location) => {
  const told = await refusal(method, path('refused', rest), body)
  expect(told).toEqual([400, 2, location])
})

it('refuses names, unknown messages and large bodies', async () => {
  for (const name of ['A', 'a_b', 'a.b', 'x'.repeat(65), 'a%2Fb', '%00'])
    for (const [method, rest] of [
      ['POST', ''],
      ['GET', '/messages'],
      ['DELETE', ''],
    ] as const)
      expect((await http(method, path(name, rest))).status).toBe(400)
  expect((await send('POST', 'x'.repeat(64), 'x')).status).toBe(200)
  const id = randomUUID()
  for (const [method, rest, body] of [
    ['GET', `/messages/${id}`, undefined],
    ['GET', `/messages?after=${id}`, undefined],
    ['POST', `/messages/${id}/forward`, { url: 'http://localhost:1/' }],
  ] as const) {
    const { status, body: told } = await http(method, path('any', rest), body)
    expect([status, told.code, told.message]).toEqual([
      404,
      404,
      expect.stringContaining('list those that are kept'),
    ])
  }
  const [elsewhere] = await list('pages', 'pageSize=1')
  expect((await http('GET', path('any', `/messages/${elsewhere.id}`))).status).toBe(404)

  const megabyte = Buffer.alloc(1_048_576, 'ä')
  expect((await send('POST', 'large', megabyte)).status).toBe(200)
  expect((await send('POST', 'large', Buffer.alloc(1_048_577))).status).toBe(413)
  const [{ id: largeId, body, bodyBytes }, ...more] = await list('large')
  expect([more, body, bodyBytes]).toEqual([[], 'ä'.repeat(32_768), 1_048_576])
  const whole = (await http('GET', path('large', `/messages/${largeId}`))).body.data.body
  expect(whole).toBe(megabyte.toString())
  expect((await http('DELETE', path('large', '/messages'))).status).toBe(204)
  expect(await list('large')).toEqual([])
})

it('keeps the newest messages of all inboxes within a size, and counts those that it dropped', async () => {
  const { inboxes } = await catcher()
  for (const { name } of inboxes) await http('DELETE', path(name))
  expect(await catcher()).toMatchObject({ inboxes: [], messageCount: 0, keptBytes: 0, messagesMax: 5_000 })
  await send('POST', 'first', 'oldest')
  const megabyte = Buffer.alloc(1_048_576)
  for (let index = 0; index < 65; index++) await send('POST', 'heavy', megabyte)
  const { keptBytes, keptBytesMax, ...kept } = await catcher()
  const counts = kept.inboxes.map((inbox: Record<string, number>) => [
    inbox['messageCount'],
    inbox['droppedCount'],
  ])
  expect([kept.messageCount, counts]).toEqual([
    63,
    [
      [0, 1],
      [63, 2],
    ],
  ])
  expect(keptBytes).toBeLessThanOrEqual(keptBytesMax)
  expect(await list('first')).toEqual([])
})

it('keeps the newest 5,000 of 10,000 messages', () => {
  const kept = createInboxes()
  const arrived = { method: 'POST', path: '', query: '', rawHeaders: [], bytes: Buffer.from('x') }
  const ids = Array.from(
    { length: 10_000 },
    (_, index) => kept.keep(index % 2 ? 'odd' : 'even', arrived, index).id,
  )
  const oddIds = ids.filter((_, index) => index % 2 === 1)
  expect(kept.messagesOf('odd').map(({ id }) => id)).toEqual(oddIds.slice(2_500).reverse())
  expect(kept.list()).toMatchObject([
    { name: 'even', messageCount: 2_500, droppedCount: 2_500, used: 5_000 },
    { name: 'odd', messageCount: 2_500, droppedCount: 2_500, used: 5_000 },
  ])
  expect(kept.message('odd', oddIds[0]!)).toBeUndefined()
  for (const name of ['odd', 'even']) kept.clear(name)
  expect(kept.keptBytes()).toBe(0)
})

it('counts the texts that it has read of a message as well', () => {
  const kept = createInboxes()
  const body = JSON.stringify({ Type: 'Notification', MessageId: 'm', Message: 'x'.repeat(200_000) })
  const arrived = { method: 'POST', path: '', query: '', rawHeaders: [], bytes: Buffer.from(body) }
  for (let index = 0; index < 200; index++) kept.keep('read', arrived, index)
  const [inbox] = kept.list()
  expect(inbox!.messageCount).toBeLessThan(120)
  expect(inbox!.messageCount + inbox!.droppedCount).toBe(200)
})

it('lets at most 1,000 requests wait, and ends them all when it stops', async () => {
  const ending = new AbortController()
  const arrivals = openArrivals<string>(ending.signal)
  const waits = Array.from({ length: 1_000 }, () => arrivals.until((item) => item === 'mine', 600_000))
  await expect(arrivals.until(() => true, 600_000)).rejects.toThrow('1000 requests wait already')
  arrivals.arrived('other')
  expect(arrivals.isCrowded()).toBe(true)
  ending.abort()
  await Promise.all(waits)
  expect(arrivals.isCrowded()).toBe(false)
  await arrivals.until(() => false, 600_000)
})

it('has at most 100 inboxes, and room for another when one is deleted', async () => {
  const { inboxes } = await catcher()
  for (let index = inboxes.length; index < 100; index++)
    expect((await send('POST', `room-${index}`, 'x')).status).toBe(200)
  const full = await http('POST', path('one-more'))
  expect([full.status, full.body.message]).toEqual([429, expect.stringContaining('delete another')])
  expect((await behave('one-more', {})).status).toBe(429)
  expect((await send('POST', 'room-99', 'x')).status).toBe(200)
  expect((await http('DELETE', path('room-99'))).status).toBe(204)
  expect((await http('POST', path('one-more'))).status).toBe(200)
})
