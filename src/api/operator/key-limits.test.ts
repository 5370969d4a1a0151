/** Keys that end, that are bound to addresses, and that show their last use. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { KeyScope } from '#runtime/scope'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs, type Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let tenant: Tenant

beforeAll(async () => {
  harness = await openHarness({ config: { proxies: ['127.0.0.1'] } })
  tenant = await harness.newEntity()
})
afterAll(() => harness?.close())

const hourMs = 3_600_000
const inHours = (hours: number) => new Date(harness.clock.nowMs() + hours * hourMs).toISOString()

type Limits = { scopes?: KeyScope[]; expireDate?: string; allowedAddresses?: string[] }

/** Asks for a key, and returns requests with it from any address. */
async function makeKey(limits: Limits, maker = tenant.http, headers = {}) {
  const { status, body, text } = await maker('POST', '/operator/apiKeys', { body: limits, headers })
  expect(status, text).toBe(201)
  const http = httpAs(harness.url, body.data.key)
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  const tryFrom = (address: string) => http('GET', '/v1/w3s/walletSets', from(address))
  const shown = async () => (await tenant.http('GET', `/operator/apiKeys/${body.data.id}`)).body.data
  return { ...body.data, http, from, tryFrom, shown }
}

it('property 296: a key works until its end, and its holder is told that it ended', async () => {
  const expireDate = inHours(1)
  const key = await makeKey({ expireDate })
  expect(key.expireDate).toBe(expireDate)
  expect((await key.tryFrom('192.0.2.1')).status).toBe(200)
  harness.clock.moveMs(hourMs)
  await until(async () => (await key.tryFrom('192.0.2.1')).status === 401, 'the key ends')
  const { body } = await key.tryFrom('192.0.2.1')
  expect([body.code, body.message]).toEqual([178143, expect.stringContaining(`expired at ${expireDate}`)])
  // A request without the secret is not told that there was such a key.
  const [prefix, id] = key.key.split(':')
  const guess = await httpAs(harness.url, `${prefix}:${id}:${'0'.repeat(64)}`)('GET', '/v1/w3s/walletSets')
  expect(guess.body.code).toBe(401)
})

it('property 296: a key works from its addresses alone, whatever the request says of them', async () => {
  const key = await makeKey({ allowedAddresses: ['10.1.0.0/16', '2001:db8::/32'] })
  for (const address of ['10.1.2.3', '2001:db8::7', '::ffff:10.1.9.9'])
    expect((await key.tryFrom(address)).status, address).toBe(200)
  for (const address of ['10.2.0.1', '192.0.2.1', '2001:db9::1', 'nonsense']) {
    const { status, body } = await key.tryFrom(address)
    expect([status, body.code], address).toEqual([403, 178144])
    expect(body.message).toContain('BEZANT_PROXIES')
  }
  // An address that the client itself put in front of the proxy's is not believed.
  expect((await key.tryFrom('10.1.2.3, 192.0.2.1')).status).toBe(403)
  // No body is read for it, and nothing else is told.
  expect((await key.http('POST', '/v1/w3s/developer/walletSets', { body: {} })).body.code).toBe(178144)
})

it('property 296: a key makes no key that outlives it, or that is used elsewhere', async () => {
  const scopes: KeyScope[] = ['api', 'operator:read', 'operator:write']
  const maker = await makeKey({ scopes, expireDate: inHours(5), allowedAddresses: ['10.0.0.0/8'] })
  const { headers } = maker.from('10.0.0.1')
  const heir = await makeKey({}, maker.http, headers)
  expect(heir).toMatchObject({ expireDate: maker.expireDate, allowedAddresses: ['10.0.0.0/8'] })
  const narrow = await makeKey(
    { expireDate: inHours(1), allowedAddresses: ['10.7.0.0/16'] },
    maker.http,
    headers,
  )
  expect(narrow.allowedAddresses).toEqual(['10.7.0.0/16'])
  for (const [limits, at, status] of [
    [{ expireDate: inHours(6) }, 'expireDate', 403],
    [{ allowedAddresses: ['10.1.0.0/16', '0.0.0.0/0'] }, 'allowedAddresses[1]', 403],
    [{ allowedAddresses: ['::/0'] }, 'allowedAddresses[0]', 403],
    [{ expireDate: inHours(-1) }, 'expireDate', 400],
    [{ expireDate: 'tomorrow' }, 'expireDate', 400],
    [{ allowedAddresses: ['10.0.0.0/33'] }, 'allowedAddresses[0]', 400],
    [{ allowedAddresses: [] }, 'allowedAddresses', 400],
  ] as const) {
    const answer = await maker.http('POST', '/operator/apiKeys', { body: limits, headers })
    expect([answer.status, answer.body.errors?.[0].location], answer.text).toEqual([status, at])
  }
})

it('property 296: a key shows its last use within two minutes', async () => {
  const key = await makeKey({})
  expect(await key.shown()).not.toHaveProperty('usedDate')
  const isShownFrom = (address: string) => async () => (await key.shown()).usedAddress === address
  await key.tryFrom('192.0.2.7')
  await until(isShownFrom('192.0.2.7'), 'the use is shown')
  const { usedDate } = await key.shown()
  expect(Math.abs(Date.parse(usedDate) - harness.clock.nowMs())).toBeLessThan(60_000)
  harness.clock.moveMs(2 * 60_000)
  await until(async () => {
    await key.tryFrom('192.0.2.8')
    return await isShownFrom('192.0.2.8')()
  }, 'the later use is shown')
})
