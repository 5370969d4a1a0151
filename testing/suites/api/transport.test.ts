import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints, removedPaths } from '#api/index'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { parseLinkHeader } from '#testing/requests/link-header'
import { rawHttp } from '#testing/requests/raw-http'

let harness: Harness
const setsPath = '/v1/w3s/developer/walletSets'

beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

const keyed = async (body: object = {}) => ({
  idempotencyKey: randomUUID(),
  entitySecretCiphertext: await harness.sealSecret(),
  ...body,
})

/** The paths at which an operation answers besides the documented one. */
const shortOf = (path: string) => path.replace(/^\/v1\/w3s/, '').replace(/^\/v1/, '')
const filled = (path: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'blockchain' ? 'BASE-SEPOLIA' : randomUUID()))

describe('bodies', () => {
  it('accepts at most 64 KiB, and one mebibyte for documents', async () => {
    const body = JSON.stringify({ ...(await keyed()), name: 'x' })
    const padded = (bytes: number) => body.slice(0, -1) + ' '.repeat(bytes - body.length) + body.slice(-1)
    const statusOf = async (path: string, bytes: number) => {
      const { status, body } = await harness.http('POST', path, { body: padded(bytes) })
      return [status, body.code]
    }
    expect(await statusOf(setsPath, 65_536)).toEqual([201, undefined])
    expect(await statusOf(setsPath, 65_537)).toEqual([413, 413])
    expect(await statusOf('/v1/w3s/developer/sign/message', 1_048_576)).toEqual([400, 2])
    expect(await statusOf('/v1/w3s/developer/sign/message', 1_048_577)).toEqual([413, 413])
  })

  it('limits a chunked body without a length', async () => {
    const chunk = `40000\r\n${' '.repeat(0x40000)}\r\n`
    const head = `POST ${setsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.apiKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    const answer = await rawHttp(harness.url, head + chunk.repeat(5))
    expect(answer.status).toBe(413)
  })

  it('ignores a byte order mark', async () => {
    const body = `\ufeff${JSON.stringify(await keyed())}`
    expect((await harness.http('POST', setsPath, { body })).status).toBe(201)
  })

  it.each(['{', '{"a":1,}', '{"a":NaN}', "{'a':1}", '// x\n{}', 'nope'])(
    'refuses %j as no JSON',
    async (body) => {
      const answer = await harness.http('POST', setsPath, { body })
      expect([answer.status, answer.body.code]).toEqual([400, 2])
      expect(answer.body.message).toMatch(/not valid JSON/)
    },
  )

  it.each(['[]', '[{}]', '"x"', '1', 'true'])('refuses %j, which is not an object', async (body) => {
    const answer = await harness.http('POST', setsPath, { body })
    expect([answer.status, answer.body.code]).toEqual([400, 2])
  })

  it('treats an empty body, with or without a JSON content type, as an empty object', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await harness.http('POST', setsPath, { headers })
      expect([answer.status, answer.body.code]).toEqual([400, 2])
      expect(answer.body.errors.map(({ location }: { location: string }) => location)).toContain(
        'idempotencyKey',
      )
    }
    expect(
      (await harness.http('GET', '/v1/w3s/walletSets', { headers: { 'content-type': 'application/json' } }))
        .status,
    ).toBe(200)
  })

  it.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ])('refuses %s with 415', async (type) => {
    const body = JSON.stringify(await keyed())
    const answer = await harness.http('POST', setsPath, { body, headers: { 'content-type': type } })
    expect([answer.status, answer.body.code]).toEqual([415, 415])
  })

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.api+json',
  ])('takes %s', async (type) => {
    const body = JSON.stringify(await keyed())
    const answer = await harness.http('POST', setsPath, { body, headers: { 'content-type': type } })
    expect(answer.status, answer.text).toBe(201)
  })

  it('refuses invalid text and too deep nesting', async () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
    const bad: [object, string][] = [
      [{ name: 'a\0b' }, 'name'],
      [{ name: '\ud800' }, 'name'],
      [{ unknown: { deep: ['\0'] } }, 'unknown.deep[0]'],
      [{ unknown: nested(32) }, 'body'],
      [{ unknown: Array.from({ length: 10_001 }, () => 1) }, 'body'],
    ]
    for (const [more, location] of bad) {
      const answer = await harness.http('POST', setsPath, { body: await keyed(more) })
      expect([answer.status, answer.body.code, answer.body.errors?.[0].location]).toEqual([400, 2, location])
    }
    for (const more of [{ name: '😀\u200b\t' }, { unknown: nested(31) }, { unknown: Array(9_000).fill(1) }])
      expect((await harness.http('POST', setsPath, { body: await keyed(more) })).status).toBe(201)
    const query = await harness.http('GET', '/v1/w3s/wallets', { query: { refId: '\0' } })
    expect([query.status, query.body.errors[0].location]).toEqual([400, 'refId'])
  })

  it('does not let a body change prototypes', async () => {
    const body = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},${JSON.stringify(await keyed()).slice(1)}`
    expect((await harness.http('POST', setsPath, { body })).status).toBe(201)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('addresses', () => {
  it('answers at the short paths as at the documented ones', async () => {
    for (const { method, path, auth } of endpoints) {
      const long = filled(path)
      if (shortOf(path) === path || path === '/v1/faucet/drips') continue
      const short = long.replace(/^\/v1(\/w3s)?/, '')
      const [one, other] = await Promise.all(
        [long, short].map((url) => httpAs(harness.url, 'x')(method, url)),
      )
      expect([path, other!.status, other!.body]).toEqual([path, one!.status, one!.body])
      if (auth !== 'none') expect(one!.status).toBe(401)
    }
  })

  it('keeps the requested path in its links', async () => {
    for (const path of ['/v1/w3s/walletSets', '/walletSets']) {
      const { self } = parseLinkHeader((await harness.http('GET', path)).headers.get('link'))
      expect(new URL(self!).pathname).toBe(path)
    }
  })

  it('refuses an unknown parameter, however often it is given, and does not repeat it', async () => {
    const query = `order=ASC&${'stranger=1&'.repeat(900)}pageSize=2`
    const { status, text, body } = await harness.http('GET', `/v1/w3s/walletSets?${query}`)
    expect([status, body.errors[0].location]).toEqual([400, 'stranger'])
    expect(text.length).toBeLessThan(1_000)
  })

  it('accepts doubled slashes at the front', async () => {
    for (const path of ['//v1/w3s/walletSets', '///v1/w3s/walletSets?pageSize=1'])
      expect((await harness.http('GET', path)).status).toBe(200)
  })

  it.each([
    '/nope',
    '/v1/nope',
    '/v1/w3s/wallet',
    '/v1//w3s/wallets',
    '/v1/w3s/wallets/../../x',
    '/%2e%2e/x',
    '/v1/w3s/WALLETS',
  ])('answers %s with 404 and a body', async (path) => {
    const answer = await harness.http('GET', path)
    expect([answer.status, answer.body.code]).toEqual([404, 404])
    expect(answer.body.message).toMatch(/not found/i)
  })

  it('refuses malformed request targets', async () => {
    for (const path of [
      '/%',
      '/v1/w3s/wallets/%ff',
      '/v1/w3s/wallets/%zz',
      `/v1/w3s/wallets/${'a'.repeat(600)}`,
    ]) {
      const { status, body } = await harness.http('GET', path)
      expect([path, [400, 404].includes(status), typeof body?.code]).toEqual([path, true, 'number'])
    }
  })

  it('answers removed operations with 410 and their replacement', async () => {
    for (const { method, path, instead } of removedPaths) {
      const methods = method === 'ALL' ? ['GET', 'POST'] : [method]
      for (const each of methods) {
        const answer = await harness.http(each, filled(path).replace('*', 'x'))
        expect([each, path, answer.status, answer.body?.code]).toEqual([each, path, 410, 410])
        expect(answer.body.message).toContain(instead)
      }
    }
    expect(removedPaths.length).toBeGreaterThan(5)
  })
})

describe('headers', () => {
  it('sends an X-Request-Id with every response, that of the caller if valid', async () => {
    const cases: [string, string, number][] = [
      ['GET', '/v1/w3s/walletSets', 200],
      ['GET', '/nope', 404],
      ['GET', `/v1/w3s/wallets/${randomUUID()}`, 404],
      ['POST', '/v1/payments', 410],
      ['POST', setsPath, 400],
    ]
    for (const [method, path, status] of cases) {
      const id = randomUUID()
      const echoed = await harness.http(method, path, { headers: { 'x-request-id': id } })
      expect([path, echoed.status, echoed.headers.get('x-request-id')]).toEqual([path, status, id])
      const made = (await harness.http(method, path)).headers.get('x-request-id')
      expect(made).toMatch(/^[0-9a-f-]{36}$/)
      const bad = await harness.http(method, path, { headers: { 'x-request-id': '<b>"x" y' } })
      expect(bad.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
    const refused = await harness.http('POST', setsPath, { body: 'x'.repeat(1_048_577) })
    expect(refused.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('allows pages of any origin, and exposes the needed headers', async () => {
    const answer = await httpAs(harness.url, undefined)('OPTIONS', setsPath, {
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-request-id,x-user-token',
      },
    })
    expect([200, 204]).toContain(answer.status)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-methods')).toMatch(/POST/)
    const allowed = answer.headers.get('access-control-allow-headers')!.toLowerCase()
    for (const name of ['authorization', 'content-type', 'x-request-id', 'x-user-token'])
      expect(allowed).toContain(name)
    const bare = await harness.http('OPTIONS', '/v1/w3s/walletSets')
    expect(bare.status).toBe(answer.status)
    const list = await harness.http('GET', '/v1/w3s/walletSets', {
      headers: { origin: 'https://shop.example' },
    })
    expect(list.headers.get('access-control-allow-origin')).toBe('*')
    expect(list.headers.get('access-control-expose-headers')!.toLowerCase()).toContain('link')
    expect(list.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('answers HEAD of every list as GET without the body', async () => {
    for (const { path, collection, params, query } of endpoints) {
      if (!collection || params || query?.required?.length) continue
      const [get, head] = await Promise.all([harness.http('GET', path), harness.http('HEAD', path)])
      expect([path, head.status, head.text]).toEqual([path, get.status, ''])
      expect(Object.keys(parseLinkHeader(head.headers.get('link')))).toEqual(
        Object.keys(parseLinkHeader(get.headers.get('link'))),
      )
    }
  })

  it.each(['evil.example', '[::1]', ''])(
    'writes its own base address into links when Host is %j',
    async (host) => {
      const request = `GET /v1/w3s/walletSets HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\nAuthorization: Bearer ${harness.apiKey}\r\nConnection: close\r\n\r\n`
      const { status, head, body } = await rawHttp(harness.url, request)
      expect(status, body).toBe(200)
      expect(/^link: <(.*?)\//im.exec(head)?.[0]).toBeDefined()
      expect(head).not.toContain('evil.example')
      expect(head).toContain(`<${harness.url}/v1/w3s/walletSets?`)
    },
  )

  it('accepts the authorisation scheme in any case, and only one key', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect(
        (
          await harness.http('GET', '/v1/w3s/walletSets', {
            headers: { authorization: `${scheme} ${harness.apiKey}` },
          })
        ).status,
      ).toBe(200)
    const twice = `GET /v1/w3s/walletSets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.apiKey} ${harness.apiKey}\r\nConnection: close\r\n\r\n`
    expect((await rawHttp(harness.url, twice)).status).toBe(401)
  })

  it('serves an absolute request target, with the configured address in the links', async () => {
    const request = `GET http://evil.example/v1/w3s/walletSets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.apiKey}\r\nConnection: close\r\n\r\n`
    const { status, head } = await rawHttp(harness.url, request)
    expect(status).toBe(200)
    expect(head).toContain(`<${harness.url}/v1/w3s/walletSets?`)
  })

  it('refuses oversized headers', async () => {
    const huge = `GET /v1/w3s/walletSets HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(70_000)}\r\n\r\n`
    const { status, body } = await rawHttp(harness.url, huge)
    expect([status, JSON.parse(body).code]).toEqual([431, 431])
  })

  it('refuses malformed HTTP with an error in the usual form, or closes the connection', async () => {
    for (const bytes of ['nonsense\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', '\x16\x03\x01\x02\x00'])
      expect([0, 400, 505]).toContain((await rawHttp(harness.url, bytes)).status)
    const both = `POST ${setsPath} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    expect([0, 400]).toContain((await rawHttp(harness.url, both)).status)
    expect((await harness.http('GET', '/v1/w3s/walletSets')).status).toBe(200)
  })
})

const securityOf = (auth: string) =>
  auth === 'none' || auth === 'user'
    ? []
    : [{ [auth === 'clientKey' || auth === 'member' ? auth : 'apiKey']: [] }]

describe('the description of the interface', () => {
  it('lists exactly the existing operations', async () => {
    const { status, body } = await httpAs(harness.url, undefined)('GET', '/openapi.json')
    expect(status).toBe(200)
    const described = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const existing = endpoints.map(({ method, path }) => `${method} ${path}`)
    const isOfSandbox = (operation: string) => operation.includes(' /sandbox/')
    expect(described.filter((operation) => !isOfSandbox(operation)).sort()).toEqual(existing.sort())
    for (const path of ['GET /sandbox/mails', 'GET /sandbox/ciphertext', 'POST /sandbox/catcher/{inbox}'])
      expect(described).toContain(path)
  })

  it('describes every operation once, with its responses and its key', async () => {
    const { body } = await httpAs(harness.url, undefined)('GET', '/openapi.json')
    expect(body.info.version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version)
    const seen = new Set<string>()
    for (const endpoint of endpoints) {
      const told = body.paths[endpoint.path][endpoint.method.toLowerCase()]
      expect(told.operationId).toBe(endpoint.operationId)
      expect(seen.has(told.operationId)).toBe(false)
      seen.add(told.operationId)
      expect(Object.keys(told.responses)).toContain(String(endpoint.status ?? 200))
      expect(told.security ?? []).toEqual(securityOf(endpoint.auth))
    }
  })

  it('serves a reference page that loads nothing from other hosts', async () => {
    const plain = httpAs(harness.url, undefined)
    const pages = ['/docs/reference', '/docs/reference/', '/docs/reference/static/index.html']
    const seen = new Set<string>()
    while (pages.length > 0) {
      const page = pages.pop()!
      if (seen.has(page)) continue
      seen.add(page)
      const { status, text, headers } = await plain('GET', page)
      if (status >= 300 && status < 400) pages.push(new URL(headers.get('location')!, harness.url).pathname)
      if (status !== 200 || !/html|css/.test(headers.get('content-type') ?? '')) continue
      const references = [
        ...text.matchAll(
          /(?:src|href)\s*=\s*["']([^"']+)["']|url\(["']?([^"')]+)["']?\)|@import\s+["']([^"']+)/g,
        ),
      ]
      for (const [, attribute, css, imported] of references) {
        const reference = attribute ?? css ?? imported ?? ''
        if (/^(data:|#)/.test(reference)) continue
        const url = new URL(reference, `${harness.url}${page}`)
        expect(url.origin, `${page} loads ${reference}`).toBe(harness.url)
        pages.push(url.pathname)
      }
    }
    expect(seen.size).toBeGreaterThan(3)
  })
})
