import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { type ErrorName, errorKinds } from '#lib/error-kinds'
import { seededRandom } from '#testing/adversary/seeded-random'
import { worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { newestFirst, readToEnd, type SeededList, seededListOf } from '#testing/requests/list-pages'
import { listSeeders } from '#testing/requests/list-seeders'
import { drawnThird } from '#testing/runner/drawn'
import { isDeep } from '#testing/runner/size'

/*
 * The conventions that every list of a tenant obeys, proven on every such route there is. A new one needs a seeder in
 * list-seeders.ts and nothing else. Payments of unified balances belong to no tenant, and their client names dates in its own way.
 */
const lists = endpoints
  .filter(({ collection, path }) => collection && path !== '/v1/x402/transfers')
  .map((endpoint) => ({ endpoint, name: `${endpoint.method} ${endpoint.path}` }))

/** Tomorrow, so that all items dated by the real time come before. */
const startMs = Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 86_400_000
const badDates = [
  '2026-02-30T00:00:00Z',
  '2026-1-1',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01T24:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-01-01T00:00:00+25:00',
  '2026-13-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-14:00',
  '+010000-01-01T00:00:00Z',
  '1767225600000',
  'yesterday',
  ' 2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00Z\n',
]

const random = seededRandom(randomInt(2 ** 31))
const badPageSizes = ['0', '-1', 'abc', '10abc', '1.5', 'null', 'NaN', 'Infinity', '0x10', ' 5', '[1]']
const some = <Item>(items: readonly Item[]) => random.sample(items, isDeep ? items.length : 2)

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ config: { requestLog: 'bodies' } })
})
afterAll(() => harness?.close())

it('has a seeder for every list', () => {
  expect(lists.length).toBeGreaterThan(0)
  expect(lists.map(({ name }) => name).filter((name) => !listSeeders[name])).toEqual([])
})

describe.each(drawnThird(lists.filter(({ name }) => listSeeders[name])))('$name', ({ endpoint, name }) => {
  const grantsOrder = endpoint.collection!.order
  const { pageSizeMax, pageSizeDefault } = endpoint.collection!
  let subject: SeededList
  let foreignId: string

  const add = async (count: number, atMs: number) => {
    harness.clock.hold(atMs)
    for (let index = 0; index < count; index++) await subject.listing.add()
  }

  beforeAll(async () => {
    harness.clock.hold(startMs)
    const [ours, theirs] = await Promise.all([harness.newEntity(), harness.newEntity()])
    const [world, otherWorld] = [worldOf(harness, ours), worldOf(harness, theirs)]
    const [listing, otherListing] = [await listSeeders[name]!(world), await listSeeders[name]!(otherWorld)]
    await otherListing.add()
    const other = seededListOf(endpoint, otherWorld, otherListing)
    foreignId = other.idOf((await other.all())[0])
    subject = seededListOf(endpoint, world, listing)
    // Some share one millisecond, some are alone in theirs.
    if (listing.most === undefined) {
      await add(3, startMs)
      await add(1, startMs + 1)
      await add(1, startMs + 60_000)
      await add(2, startMs + 61_000)
    } else {
      for (let index = 0; index < listing.most; index++) await add(1, startMs + index * 1_000)
    }
    harness.clock.hold(startMs + 120_000)
  })

  it('shows the newest first, ties by id', async () => {
    const items = await subject.all()
    expect(items.length).toBeGreaterThanOrEqual(subject.listing.most ?? 7)
    if (subject.dateOf(items[0]) === undefined) return
    expect(items.map(subject.idOf)).toEqual([...items].sort(newestFirst(subject)).map(subject.idOf))
    for (const item of items) expect(subject.dateOf(item)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it(grantsOrder ? 'reverses on order=ASC' : 'refuses an unsupported order', async () => {
    const newest = (await subject.all()).map(subject.idOf)
    expect((await subject.all({ order: 'DESC' })).map(subject.idOf)).toEqual(newest)
    for (const order of ['sideways', 'asc', 'desc', '1']) await expectInvalid({ order }, 'order')
    if (!grantsOrder) return expectInvalid({ order: 'ASC' }, 'order')
    expect((await subject.all({ order: 'ASC' })).map(subject.idOf)).toEqual([...newest].reverse())
  })

  it.each(isDeep ? [1, 2, 3, 50] : [2])(
    'visits every item once in pages of %i, both ways',
    async (pageSize) => {
      for (const order of grantsOrder ? ['DESC', 'ASC'] : ['DESC']) {
        const ids = (await subject.all({ order })).map(subject.idOf)
        const forward = await readToEnd(subject, await subject.page({ pageSize, order }), 'next')
        expect(forward.flatMap((page) => page.ids)).toEqual(ids)
        expect(forward.slice(0, -1).every((page) => page.ids.length === pageSize)).toBe(true)
        expect(forward.map((page) => 'prev' in page.links)).toEqual(forward.map((_, index) => index > 0))
        expect(forward.every((page) => page.links['self'] && page.links['first'])).toBe(true)
        const backward = await readToEnd(subject, forward.at(-1)!, 'prev')
        expect(backward.reverse().flatMap((page) => page.ids)).toEqual(ids)
        expect('prev' in backward[0]!.links).toBe(false)
      }
    },
  )

  it('pages with pageAfter and pageBefore, both exclusive', async () => {
    const ids = (await subject.all()).map(subject.idOf)
    const places = [...ids.keys()]
    for (const index of new Set([0, ids.length - 1, ...some(places)])) {
      expect((await subject.page({ pageAfter: ids[index]!, pageSize: 2 })).ids).toEqual(
        ids.slice(index + 1, index + 3),
      )
      if (index > 0)
        expect((await subject.page({ pageBefore: ids[index]!, pageSize: 2 })).ids).toEqual(
          ids.slice(Math.max(0, index - 2), index),
        )
    }
    expect((await subject.page({ pageAfter: ids[0]!.toUpperCase(), pageSize: 1 })).ids).toEqual([ids[1]])
  })

  it('treats from and to as inclusive bounds of the shown createDate', async () => {
    const items = await subject.all()
    if (subject.dateOf(items[0]) === undefined) return
    for (const date of some([...new Set(items.map((item) => subject.dateOf(item)!))])) {
      const atMs = Date.parse(date)
      const idsOf = async (from: string, to: string) => (await subject.all({ from, to })).map(subject.idOf)
      const same = items.filter((other) => subject.dateOf(other) === date).map(subject.idOf)
      expect(await idsOf(date, date)).toEqual(same)
      const elsewhere = `${new Date(atMs + 5.5 * 3_600_000).toISOString().slice(0, -1)}+05:30`
      expect(await idsOf(elsewhere, elsewhere)).toEqual(same)
      const [before, after] = [new Date(atMs - 1).toISOString(), new Date(atMs + 1).toISOString()]
      expect(await idsOf(before, after)).toEqual(expect.arrayContaining(same))
      const crossed = await subject.ask({ from: after, to: before })
      expect([crossed.status, crossed.body.code]).toEqual([400, 2])
      expect(crossed.body.errors.map(({ location }: { location: string }) => location)).toEqual([
        'from',
        'to',
      ])
    }
  })

  it('returns an empty page with valid links for a future range', async () => {
    const from = new Date(harness.clock.nowMs() + 60_000).toISOString()
    const page = await subject.page({ from })
    expect(page.ids).toEqual([])
    expect((await subject.follow(page.links['self']!)).ids).toEqual([])
  })

  it('leads back from the empty page behind the last item', async () => {
    const ids = (await subject.all()).map(subject.idOf)
    const last = ids.at(-1)!
    const empty = await subject.page({ pageAfter: last, pageSize: 2 })
    expect([empty.ids, Object.keys(empty.links).sort()]).toEqual([[], ['first', 'prev', 'self']])
    const before = await subject.follow(empty.links['prev']!)
    expect(before.ids).toEqual(ids.slice(-3, -1))
    expect((await subject.follow(before.links['next']!)).ids).toEqual([last])
  })

  it('uses the time of the request as the default of to', async () => {
    const items = await subject.all()
    const dates = items.map(subject.dateOf)
    if (dates[0] === undefined || dates.at(-1) === dates[0]) return
    const cutMs = Date.parse(dates.at(-1)!)
    harness.clock.hold(cutMs)
    const seen = await subject.page({ pageSize: 50 })
    harness.clock.hold(startMs + 120_000)
    expect(seen.ids).toEqual(
      items.filter((item) => Date.parse(subject.dateOf(item)!) <= cutMs).map(subject.idOf),
    )
    expect(new URL(seen.links['self']!).searchParams.get('to')).toBe(new Date(cutMs).toISOString())
  })

  it('does not move pages while items arrive', async () => {
    if (subject.listing.most !== undefined) return
    const before = (await subject.all()).map(subject.idOf)
    const first = await subject.page({ pageSize: 2 })
    await add(1, startMs + 180_000)
    const second = await subject.follow(first.links['next']!)
    await add(2, startMs + 181_000)
    const rest = await readToEnd(subject, second, 'next')
    expect([first, ...rest].flatMap((page) => page.ids)).toEqual(before)
    expect((await subject.follow(second.links['prev']!)).ids).toEqual(first.ids)
    expect((await subject.follow(rest.at(-1)!.links['first']!)).ids).toEqual(first.ids)
    expect((await subject.all()).length).toBe(before.length + 3)
  })

  it('keeps filters, to and pageSize in absolute links, regardless of Host', async () => {
    const url = new URL(harness.url)
    const filters = { from: '2020-01-01T00:00:00+01:00' }
    const ids = (await subject.all()).map(subject.idOf)
    const page = await subject.page({ ...filters, pageSize: 1, pageAfter: ids[0]! })
    const lied = await httpAs(harness.url, subject.world.tenant.apiKey)('GET', subject.listing.path, {
      query: { ...subject.listing.query, ...filters, pageSize: 1, pageAfter: ids[0]! },
      headers: {
        ...subject.listing.headers,
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        forwarded: 'host=evil.example',
      },
    })
    expect(lied.headers.get('link')).toBe(page.answer.headers.get('link'))
    expect(Object.keys(page.links).sort()).toEqual(
      ids.length > 2 ? ['first', 'next', 'prev', 'self'] : ['first', 'prev', 'self'],
    )
    for (const [rel, address] of Object.entries(page.links)) {
      const link = new URL(address)
      expect([link.origin, link.pathname]).toEqual([url.origin, subject.listing.path])
      const parameters = Object.fromEntries(link.searchParams)
      expect(parameters).toMatchObject({ ...subject.listing.query, ...filters, pageSize: '1' })
      expect(parameters['to']).toBe(new Date(harness.clock.nowMs()).toISOString())
      const cursors = ['pageAfter', 'pageBefore'].filter((cursor) => cursor in parameters)
      expect(cursors).toEqual(
        { self: ['pageAfter'], next: ['pageAfter'], prev: ['pageBefore'], first: [] }[rel],
      )
    }
    expect((await subject.follow(page.links['self']!)).ids).toEqual(page.ids)
  })

  it('writes to and pageSize into the links of a bare request', async () => {
    const { links, ids } = await subject.page()
    const self = new URL(links['self']!).searchParams
    expect(self.get('pageSize')).toBe(String(pageSizeDefault))
    expect(Date.parse(self.get('to')!)).not.toBeNaN()
    expect(ids.length).toBeLessThanOrEqual(pageSizeDefault)
  })

  it('clamps a large page size and refuses an invalid one', async () => {
    for (const pageSize of [String(pageSizeMax), String(pageSizeMax + 1), '1000000000']) {
      const { links } = await subject.page({ pageSize })
      expect(new URL(links['self']!).searchParams.get('pageSize')).toBe(String(pageSizeMax))
    }
    for (const pageSize of some(badPageSizes)) await expectInvalid({ pageSize }, 'pageSize')
  })

  it('refuses both cursors, malformed ones and unknown ones, naming the field', async () => {
    const [one, other] = (await subject.all()).map(subject.idOf) as [string, string]
    await expectInvalid({ pageAfter: one, pageBefore: other }, 'pageBefore')
    for (const cursor of ['pageAfter', 'pageBefore']) {
      const malformed = ['x', `${one}0`, one.slice(0, -1), `{${one}}`, `${one}\n`, "' or 1=1", '%00']
      for (const text of some(malformed)) await expectRefused({ [cursor]: text }, 'cursorNotUuid', cursor)
      await expectRefused({ [cursor]: randomUUID() }, 'cursorNotFound', cursor)
    }
  })

  it('treats the cursor of another tenant as unknown', async () => {
    if (subject.listing.sharedIds) return
    for (const cursor of ['pageAfter', 'pageBefore']) {
      const unknown = randomUUID()
      const foreign = await subject.ask({ [cursor]: foreignId })
      const random = await subject.ask({ [cursor]: unknown })
      expect(foreign.status).toBe(404)
      expect(foreign.text.replaceAll(foreignId, '')).toBe(random.text.replaceAll(unknown, ''))
    }
  })

  it('starts again from the first page when a filter changes mid-way', async () => {
    const items = await subject.all()
    const dates = items.map(subject.dateOf)
    if (dates[0] === undefined || dates.at(-1) === dates[0]) return
    const [newest, oldest] = [subject.idOf(items[0]), dates.at(-1)!]
    const first = await subject.page({ to: oldest, pageSize: 2 })
    for (const cursor of ['pageAfter', 'pageBefore']) {
      const changed = await subject.page({ to: oldest, pageSize: 2, [cursor]: newest })
      expect(changed.ids).toEqual(first.ids)
      expect('prev' in changed.links).toBe(false)
    }
  })

  it.each(some(badDates))('refuses the date %j', async (date) => {
    for (const bound of ['from', 'to']) await expectInvalid({ [bound]: date }, bound)
  })

  it('treats an empty cursor or date as absent, and refuses unknown parameters by name', async () => {
    const { ids } = await subject.page()
    expect((await subject.ask('from=&to=&pageSize=&pageAfter=&pageBefore=')).status).toBe(200)
    for (const name of ['a[]', 'a[__proto__]', '__proto__', 'pageSize[]', 'pagesize']) {
      const { status, body } = await subject.ask(`${name}=1`)
      expect([status, body.code, body.errors?.[0]?.location]).toEqual([400, 2, name])
    }
    const { ids: empty } = await subject.page({
      from: '',
      to: '',
      pageSize: '',
      pageAfter: '',
      pageBefore: '',
    })
    expect(empty).toEqual(ids)
  })

  it('refuses a parameter given twice', async () => {
    const id = subject.idOf((await subject.all())[0])
    const now = new Date().toISOString()
    for (const [name, value] of Object.entries({ pageSize: '1', from: now, to: now, pageAfter: id })) {
      const answer = await subject.ask(`${name}=${value}&${name}=${value}`)
      expect([name, answer.status]).toEqual([name, 400])
    }
  })

  async function expectRefused(query: Record<string, string>, kind: ErrorName, field: string) {
    const answer = await subject.ask(query)
    const { code, status } = errorKinds[endpoint.errorsAs?.[kind] ?? kind]
    const told = { query, status: answer.status, code: answer.body?.code }
    expect(told, answer.text).toEqual({ query, status, code })
    expect(answer.body.errors[0].location).toBe(field)
  }
  const expectInvalid = (query: Record<string, string>, field: string) =>
    expectRefused(query, 'invalidRequest', field)
})
