import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { endpoints, removedPaths } from '#api/index'
import { startApi } from '#context'
import { createAuthenticate } from '#runtime/auth/authenticate'
import { revokeApiKey } from '#runtime/auth/store'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { type RawAnswer, rawHttp } from '#testing/requests/raw-http'
import { addressOf } from '#testing/requests/sample-request'

/*
 * A caller without a valid key costs next to nothing: its body is not read, its key is looked up in one batch with those
 * of other callers, and it uses up no resource of a tenant.
 */
let harness: Harness
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterEach(async () => {
  for (const clean of cleanUps.splice(0)) await clean()
})
afterAll(() => harness?.close())

/** The API as in production, without a sandbox, on the harness's database. */
async function production(config: Partial<Config> = {}): Promise<string> {
  const api = await startApi({
    ...harness.ctx,
    config: { ...harness.ctx.config, publicUrl: undefined, ...config },
  })
  cleanUps.push(api.stop)
  return api.url
}

const withBody = endpoints.filter(({ body }) => body)
const keyed = endpoints.filter(({ auth }) => !['none', 'user', 'member'].includes(auth))
const setsPath = '/v1/w3s/developer/walletSets'

/** The head of a request with this body length, whose body is never sent. */
const headOnly = (method: string, path: string, length: number, key?: string) =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${
    key ? `Authorization: Bearer ${key}\r\n` : ''
  }\r\n`

const statusAndCode = ({ status, body }: RawAnswer) => [status, JSON.parse(body).code]

describe('requests that are sent before the answers of earlier ones', () => {
  const request = 'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n'

  /** Opens a connection that counts its answers. */
  async function opened(url: string) {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    cleanUps.push(async () => socket.destroy())
    const seen = { answers: 0, ended: false }
    socket.on('data', (bytes) => {
      seen.answers += bytes.toString().split('HTTP/1.1 404').length - 1
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      seen.ended = true
    })
    await new Promise((resolve) => socket.once('connect', resolve))
    return { socket, seen }
  }

  it('property 65: are answered one after another, and others have their turns between them', async () => {
    const url = await production()
    const [many, other] = [await opened(url), await opened(url)]
    const answersBefore = new Promise((resolve) =>
      other.socket.once('data', () => resolve(many.seen.answers)),
    )
    many.socket.write(request.repeat(30))
    other.socket.write(request)
    expect(await answersBefore).toBeLessThan(15)
    await until(async () => many.seen.answers === 30, 'all are answered')
    expect(many.seen.ended).toBe(false)
  })

  it('property 65: end their connection where they are hundreds', async () => {
    const url = await production()
    const many = await opened(url)
    many.socket.write(request.repeat(400))
    await until(async () => many.seen.ended, 'the connection has ended')
    expect(many.seen.answers).toBeLessThan(40)
  })
})

describe('the body of a request', () => {
  const strangers = { nobody: undefined, 'a made-up key': `TEST_API_KEY:${randomUUID()}:x` }

  it.each(Object.entries(strangers))(
    'property 65: does not delay others when %s sends it, whatever the address',
    async (_, key) => {
      const asked = [
        ...withBody.map(
          ({ method, path, auth }) => [method, addressOf(path), auth === 'none' ? 0 : 401] as const,
        ),
        ...removedPaths.map(({ method, path }) => [method === 'ALL' ? 'POST' : method, path, 410] as const),
        ['POST', '/nope', 404] as const,
      ].filter(([method, , status]) => method !== 'GET' && status !== 0)
      const told = asked.map(async ([method, path, status]) => {
        const answer = await rawHttp(
          harness.url,
          headOnly(method, path.replaceAll(/\{\w+\}|\*/g, 'x'), 1_000_000, key),
        )
        return [method, path, answer.status === status]
      })
      expect((await Promise.all(told)).filter(([, , isRight]) => !isRight)).toEqual([])
    },
  )

  it('property 65: is refused before its body arrives when that is too long for the operation', async () => {
    for (const { method, path, largeBody, auth } of withBody.filter(
      ({ auth }) => !['none', 'user', 'member'].includes(auth),
    )) {
      const max = largeBody ? 1_048_576 : 65_536
      const answer = await rawHttp(
        harness.url,
        headOnly(method, addressOf(path), max + 1, auth === 'clientKey' ? harness.clientKey : harness.apiKey),
      )
      expect([path, ...statusAndCode(answer)]).toEqual([path, 413, 413])
      expect(answer.body).toContain(String(max))
    }
  })

  it('property 65: is not parsed when it has too many values or nests too deep', async () => {
    const parse = vi.spyOn(JSON, 'parse')
    const bodies = [
      `{"unknown":[${'{},'.repeat(20_000)}{}]}`,
      `[${'0,'.repeat(30_000)}0]`,
      '['.repeat(60_000),
      `{"a":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`,
    ]
    try {
      for (const body of bodies) {
        const answer = await harness.http('POST', setsPath, { body })
        expect([answer.status, answer.body.code, answer.body.errors[0].location]).toEqual([400, 2, 'body'])
        expect(parse.mock.calls.some(([text]) => text === body)).toBe(false)
      }
    } finally {
      parse.mockRestore()
    }
    const text = await harness.http('POST', setsPath, { body: { name: '{[,"\\'.repeat(9_000) } })
    expect(text.body.message).toMatch(/name must have 0 to 256 characters/)
  })

  it('property 65: is cut off when its body or headers arrive too slowly', async () => {
    const head = headOnly('POST', setsPath, 1_000, harness.apiKey)
    const [headers, body] = await Promise.all([
      trickle(harness.url, 'GET / HTTP/1.1\r\nHost: x\r\nX-A: '),
      trickle(harness.url, head),
    ])
    for (const answer of [headers, body]) expect(answer).toMatch(/^HTTP\/1\.1 408 .*"code":408/s)
  })
})

describe('the budget of a key', () => {
  // Requests of one moment: a busy machine would spread them over several seconds, each with its own budget.
  beforeEach(() => {
    const nowMs = Date.now()
    vi.spyOn(Date, 'now').mockReturnValue(nowMs)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('property 65: cannot be used up with only its public half', async () => {
    const tenant = await harness.newEntity()
    const url = await production({ requestsPerSecondMax: 20 })
    const [prefix, id] = tenant.apiKey.split(':')
    const thief = httpAs(url, `${prefix}:${id}:wrong`)
    const stolen = await Promise.all(Array.from({ length: 60 }, () => thief('GET', '/v1/w3s/walletSets')))
    const statuses = stolen.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(40)
    expect(statuses).toContain(429)
    const refused = stolen.find(({ status }) => status === 429)!
    expect([refused.body.code, refused.headers.get('retry-after')]).toEqual([429, '1'])
    const { status } = await httpAs(url, tenant.apiKey)('GET', '/v1/w3s/walletSets')
    expect(status).toBe(200)
  })

  it('property 65: counts a forwarded address only behind a configured proxy', async () => {
    const statusesThrough = async (proxies: string[]) => {
      const url = await production({ requestsPerSecondMax: 5, proxies })
      const ask = (index: number) =>
        httpAs(url, undefined)('GET', '/ping', { headers: { 'x-forwarded-for': `203.0.113.${index}` } })
      const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => ask(index)))
      return new Set(answers.map(({ status }) => status))
    }
    expect(await statusesThrough([])).toEqual(new Set([200, 429]))
    expect(await statusesThrough(['192.0.2.1'])).toEqual(new Set([200, 429]))
    expect(await statusesThrough(['127.0.0.0/8'])).toEqual(new Set([200]))
  })
})

describe('made-up keys', () => {
  const authorization = (id = randomUUID(), secret = 'x') => `Bearer TEST_API_KEY:${id}:${secret}`

  it('property 65: are looked up in batches, one query at a time, and evict no verified key', async () => {
    let [under, most, queries] = [0, 0, 0]
    const all: Db['all'] = async (query) => {
      queries += 1
      most = Math.max(most, (under += 1))
      return harness.database.all<never>(query).finally(() => (under -= 1))
    }
    const { database, ctx } = harness
    const { reading } = database
    const check = createAuthenticate({ ...ctx, database: { ...database, reading: { ...reading, all } } })
    const authenticate = (header: string) => check(header, '127.0.0.1')
    const ours = `Bearer ${harness.apiKey}`
    expect((await authenticate(ours)).entity.id).toBe(harness.entityId)
    queries = 0
    const flood = Promise.allSettled(Array.from({ length: 2_000 }, () => authenticate(authorization())))
    expect((await authenticate(ours)).entity.id).toBe(harness.entityId)
    const kinds = (await flood).map((one) => one.status === 'rejected' && one.reason.kind)
    expect([most, queries]).toEqual([1, 1])
    expect(new Set(kinds)).toEqual(new Set(['unauthorized', 'unavailable']))
    expect(kinds.filter((kind) => kind === 'unauthorized')).toHaveLength(500)
  })
})

describe('a refused key', () => {
  it('property 47: gets the same answer on every route, whatever is wrong with it', async () => {
    const url = await production()
    const [tenant, other] = [await harness.newEntity(), await harness.newEntity()]
    const revoked = await harness.newEntity()
    await revokeApiKey(harness.database, revoked.apiKey.split(':')[1]!, harness.clock.nowMs())
    const [prefix, id, secret] = tenant.apiKey.split(':') as [string, string, string]
    const bad = [
      undefined,
      '',
      tenant.apiKey,
      `Basic ${tenant.apiKey}`,
      `Bearer ${prefix}:${id}:wrong`,
      `Bearer ${prefix}:${randomUUID()}:${secret}`,
      `Bearer LIVE_API_KEY:${id}:${secret}`,
      `Bearer ${prefix}:${other.apiKey.split(':')[1]}:${secret}`,
      `Bearer ${revoked.apiKey}`,
      `Bearer ${prefix}:not-a-uuid:${secret}`,
      `Bearer ${prefix}:${id}`,
      `Bearer ${tenant.apiKey}:x`,
    ]
    const answers = new Set<string>()
    for (const { method, path } of keyed)
      await Promise.all(
        bad.map(async (authorization) => {
          const { status, headers, text } = await httpAs(url, undefined)(method, addressOf(path), {
            headers: { authorization },
          })
          answers.add(`${status} ${headers.get('www-authenticate')} ${text}`)
        }),
      )
    expect([...answers]).toEqual([expect.stringMatching(/^401 .*"code":401/)])
    expect([...answers][0]).not.toContain('sandbox')
    const unprefixed = await httpAs(url, `${id}:${secret}:x`)('GET', '/v1/w3s/walletSets')
    expect([unprefixed.status, unprefixed.body.code]).toEqual([401, 156007])
  })
})

/** Sends one byte at a time, slowly, until the server ends the connection; resolves with its answer. */
function trickle(url: string, start: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let said = ''
    const socket = connect(Number(port), hostname, () => socket.write(start))
    const timer = setInterval(() => socket.write('a'), 250)
    socket.on('data', (chunk) => (said += chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(timer)
      resolve(said)
    })
  })
}
