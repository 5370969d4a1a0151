import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi } from '#context'
import { sql } from '#runtime/db/db'
import { bodyBytesMax } from '#runtime/request-log/shown-body'
import { loggedRequest, makeLoggedRequest } from '#testing/builders/logged-requests'
import { type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { tenantOf } from '#testing/platform/tenant'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness({ config: { requestLog: 'bodies' } })
  world = worldOf(harness, await harness.newEntity())
  await world.fundedWallet()
})
afterAll(() => harness?.close())

const list = (query: string) => world.call('GET', `/operator/requests?${query}`)
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)

/** Sends a request under an id, and returns what the log shows of it. */
async function logged(method: string, path: string, body?: object) {
  const id = randomUUID()
  const answer = await world.tenant.http(method, path, { body, headers: { 'X-Request-Id': id } })
  expect(answer.headers.get('x-request-id')).toBe(id)
  return { answer, shown: await loggedRequest(world, id) }
}

it('keeps what the console of a sandbox changes, and nothing of what it reads', async () => {
  const [read, changed] = [randomUUID(), randomUUID()]
  const headersOf = (id: string) => ({ 'X-Request-Id': id, 'X-Bezant-Console': 'sandbox' })
  await world.tenant.http('GET', '/v1/w3s/wallets', { headers: headersOf(read) })
  await world.tenant.http('POST', '/v1/w3s/developer/walletSets', { body: {}, headers: headersOf(changed) })
  await loggedRequest(world, changed)
  expect((await world.tenant.http('GET', `/operator/requests/${read}`)).status).toBe(404)
})

it('shows a transfer, its repetition and its refusal, with headers and bodies of both', async () => {
  const wallet = await world.fundedWallet()
  const keyed = async (amount: string) => ({
    idempotencyKey,
    entitySecretCiphertext: await world.tenant.sealSecret(),
    walletId: wallet.id,
    tokenId: world.usdcId,
    destinationAddress: `0x${'ab'.repeat(20)}`,
    amounts: [amount],
    feeLevel: 'MEDIUM',
    refId: 'a reference',
  })
  const idempotencyKey = randomUUID()
  const path = '/v1/w3s/developer/transactions/transfer'
  const first = await logged('POST', path, await keyed('0.5'))
  const { id: resourceId } = first.answer.body.data
  const [keyId] = (await world.call('GET', `/operator/requests?resourceId=${resourceId}`)).map(
    ({ apiKeyId }: { apiKeyId: string }) => apiKeyId,
  )
  expect(first.shown).toMatchObject({
    method: 'POST',
    path,
    route: path,
    status: first.answer.status,
    resourceId,
    idempotencyKey,
    replayed: false,
    durationMs: expect.any(Number),
    ip: '127.0.0.1',
    request: { headers: { 'content-type': 'application/json', authorization: '[redacted]' } },
    response: { headers: { 'content-type': 'application/json; charset=utf-8' } },
  })
  expect(JSON.parse(first.shown.request.body)).toEqual({
    ...(await keyed('0.5')),
    entitySecretCiphertext: '[redacted]',
    refId: '[redacted]',
  })
  expect(JSON.parse(first.shown.response.body)).toEqual({ data: first.answer.body.data })
  expect(keyId).toMatch(/^[0-9a-f-]{36}$/)

  const again = await logged('POST', path, await keyed('0.5'))
  expect(again.shown).toMatchObject({ status: again.answer.status, resourceId, replayed: true })
  const other = await logged('POST', path, await keyed('0.6'))
  expect(other.shown).toMatchObject({ status: other.answer.status, code: other.answer.body.code })
  expect(other.shown.status).toBeGreaterThanOrEqual(400)

  const byKey = await list(`idempotencyKey=${idempotencyKey}`)
  expect(idsOf(byKey)).toEqual(idsOf([other.shown, again.shown, first.shown]))
  expect(idsOf(await list(`resourceId=${resourceId}&route=${path}`))).toEqual(
    idsOf([again.shown, first.shown]),
  )
  expect(idsOf(await list(`idempotencyKey=${idempotencyKey}&status=4xx&method=POST`))).toEqual(
    idsOf([other.shown]),
  )
  expect(await list(`status=${other.shown.status}&apiKeyId=${keyId}&pageSize=1`)).toHaveLength(1)
  expect(await list(`apiKeyId=${randomUUID()}`)).toEqual([])
})

it('names the wrong field of a refusal, and not its value', async () => {
  const { shown } = await logged('GET', '/v1/w3s/transactions?pageSize=10&from=yesterday&txHash=0x12')
  expect(shown.path).toBe('/v1/w3s/transactions?pageSize=10&from=[redacted]&txHash=[redacted]')
  expect(JSON.parse(shown.response.body)).toEqual({
    code: 2,
    message: 'API parameter invalid.',
    errors: [{ error: 'invalid_value', location: 'from' }],
  })
})

it('finds a request by the id that the server gave it, and by no id of another tenant', async () => {
  const { headers } = await world.tenant.http('GET', '/v1/w3s/walletSets')
  const id = headers.get('x-request-id')!
  const shown = await loggedRequest(world, id)
  expect(shown).toMatchObject({ id, method: 'GET' })
  expect(shown.requestId).toBeUndefined()
  const other = await harness.newEntity()
  expect(await other.http('GET', `/operator/requests/${id}`)).toMatchObject({
    status: 404,
    body: { code: 404, message: expect.stringContaining('the request log has no request with this id.') },
  })
  expect((await other.http('GET', '/operator/requests')).body.data).toEqual([])
})

it('keeps repetitions of one X-Request-Id apart', async () => {
  const headers = { 'X-Request-Id': randomUUID() }
  await world.tenant.http('GET', '/v1/w3s/walletSets', { headers })
  await world.tenant.http('GET', '/v1/w3s/wallets', { headers })
  await makeLoggedRequest(world)
  const found = (await list('pageSize=3')).filter(
    ({ requestId }: { requestId: string }) => requestId === headers['X-Request-Id'],
  )
  expect(new Set(idsOf(found)).size).toBe(2)
})

it('keeps the beginning of a long body, with its size and the digest of the whole', async () => {
  const tokenIds = Array.from({ length: 600 }, () => randomUUID())
  const { shown } = await logged('POST', '/v1/w3s/config/entity/monitoredTokens', { tokenIds })
  const whole = JSON.stringify({ tokenIds })
  expect(shown.request.body === whole.slice(0, bodyBytesMax)).toBe(true)
  expect(shown.request).toMatchObject({
    bodyBytes: whole.length,
    bodySha256: createHash('sha256').update(whole).digest('hex'),
  })
})

it('logs no request without a key, no probe, and no read of an operator', async () => {
  const before = await harness.database.one<{ count: number }>(sql`select count(*) from requests`)
  const { http } = tenantOf(harness.url, { ...world.tenant, apiKey: 'TEST_API_KEY:x:y' })
  for (const path of ['/ping', '/ready', '/docs', '/console', '/v1/stablecoins', '/nowhere'])
    await http('GET', path)
  expect((await http('GET', '/v1/w3s/wallets')).status).toBe(401)
  await world.call('GET', '/operator/notifications')
  await world.tenant.http('GET', '/metrics')
  await world.tenant.http('PUT', '/sandbox/catcher/x', { body: {} })
  await makeLoggedRequest(world)
  const after = await harness.database.one<{ count: number }>(sql`select count(*) from requests`)
  expect(after.count - before.count).toBe(1)
})

it.each(['off', 'rows'] as const)('%s keeps less', async (requestLog) => {
  const config = { ...harness.ctx.config, requestLog, pagePort: 0 }
  const { url, stop } = await startApi({ ...harness.ctx, config })
  const there = { tenant: tenantOf(url, world.tenant) }
  const id = randomUUID()
  await there.tenant.http('GET', '/v1/w3s/walletSets', { headers: { 'X-Request-Id': id } })
  await stop()
  const found = await world.tenant.http('GET', `/operator/requests/${id}`)
  expect(found.status).toBe(requestLog === 'off' ? 404 : 200)
  expect(found.body.data?.response).toBeUndefined()
})

it('writes what is left when the server stops', async () => {
  const { url, stop } = await startApi({ ...harness.ctx, config: { ...harness.ctx.config } })
  const { http } = tenantOf(url, world.tenant)
  const asked = await Promise.all(Array.from({ length: 20 }, () => http('GET', '/v1/w3s/walletSets')))
  await stop()
  for (const { headers } of asked)
    expect((await world.tenant.http('GET', `/operator/requests/${headers.get('x-request-id')}`)).status).toBe(
      200,
    )
})
