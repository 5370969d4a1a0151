/** Policies, decisions, reconciliations and API keys for operators, compared with the rows behind them. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordAgreements } from '#engines/indexer/reconciliation/store'
import { insertApiKey } from '#runtime/auth/store'
import { raw, sql } from '#runtime/db/db'
import type { KeyScope } from '#runtime/scope'
import { makeApiKey, makeGap, makePolicyVersion } from '#testing/builders/operator-rows'
import { makeTransfer, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs, type Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness({ config: { requestLog: 'bodies' } })
  world = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

/** Sends requests with a key of these scopes. */
async function withScopes(tenant: Tenant, scopes: readonly KeyScope[]) {
  const nowMs = harness.ctx.clock.nowMs()
  const key = { entityId: tenant.entityId, environment: 'TEST', scopes, nowMs } as const
  const { id, text } = await insertApiKey(harness.database, key)
  return { id, http: httpAs(harness.url, text) }
}

it('lists the versions of policies, those in force, and what they decided', async () => {
  await makePolicyVersion(world)
  const transfer = await makeTransfer(world)
  await makePolicyVersion(world)
  const { entityId } = world.tenant
  const versions = await world.call('GET', '/operator/policies')
  const stored = await harness.database.all<{ version: number }>(
    sql`select version from policy_versions where entity_id = ${entityId} order by version desc`,
  )
  expect(versions.map(({ version }: { version: number }) => version)).toEqual(
    stored.map(({ version }) => version),
  )
  expect(versions[0]).toMatchObject({
    scope: 'entity',
    subjectId: entityId,
    inForce: true,
    rules: { mode: 'permissive' },
    actor: 'test',
  })
  expect(await world.call('GET', '/operator/policies?inForce=true')).toEqual([versions[0]])
  expect(await world.call('GET', '/operator/policies?inForce=false')).toEqual(versions.slice(1))
  expect(await world.call('GET', `/operator/policies?subjectId=${entityId}`)).toEqual(versions)
  expect(await world.call('GET', `/operator/policies?subjectId=${randomUUID()}`)).toEqual([])
  // A version that was replaced is still a cursor of the list of those in force.
  const after = await world.call('GET', `/operator/policies?inForce=true&pageAfter=${versions[1].id}`)
  expect(after).toEqual([versions[0]])
  const [decision, ...more] = await world.call('GET', `/operator/policyDecisions?intentId=${transfer.id}`)
  expect(more).toEqual([])
  const versionThen = versions[1].version
  expect(decision).toMatchObject({
    intentId: transfer.id,
    operation: 'transfer',
    versions: [{ scope: 'entity', subjectId: entityId, version: versionThen }],
  })
  expect(await world.call('GET', `/operator/policyDecisions?walletId=${decision.walletId}`)).toContainEqual(
    decision,
  )
  expect(await worldOf(harness).call('GET', `/operator/policyDecisions?intentId=${transfer.id}`)).toEqual([])
})

it('lists gaps of the books, how they changed, and their end', async () => {
  const tenant = await harness.newEntity()
  const own = worldOf(harness, tenant)
  const { address } = await makeGap(own)
  await makeGap(own, address, 9_000_001n)
  const other = await makeGap(own)
  const list = (query = '') => own.call('GET', `/operator/reconciliations?${query}`)
  const shown = (rows: { address: string; state: string; gap: string }[]) =>
    rows.map((row) => [row.address, row.state, row.gap])
  expect(shown(await list())).toEqual([
    [other.address, 'open', '0.000002'],
    [address, 'open', '8.999998'],
    [address, 'changed', '0.000002'],
  ])
  expect(await list()).toMatchObject([{ booked: '0.000003', onChain: '0.000005', symbol: 'USDC' }, {}, {}])
  const equal = {
    entityId: tenant.entityId,
    address,
    tokenId: own.usdcId,
    bookedAtomic: 3n,
    onChainAtomic: 3n,
  }
  const { blockchain } = harness.chain()
  await recordAgreements(
    harness.database,
    harness.ctx.clock.nowMs(),
    blockchain,
    { number: 2, hash: '0x2' },
    [equal],
  )
  expect(shown(await list('open=true'))).toEqual([[other.address, 'open', '0.000002']])
  expect(shown(await list('open=false'))).toEqual([
    [address, 'ended', '0'],
    [address, 'changed', '8.999998'],
    [address, 'changed', '0.000002'],
  ])
  expect(await list('blockchain=ETH-SEPOLIA')).toEqual([])
  expect(shown(await world.call('GET', '/operator/reconciliations'))).toEqual([])
})

it('creates a key that works, shows its secret once, and revokes it', async () => {
  const tenant = await harness.newEntity()
  const own = worldOf(harness, tenant)
  const answer = await tenant.http('POST', '/operator/apiKeys', {
    body: { scopes: ['api', 'operator:read'] },
  })
  expect(answer.status, answer.text).toBe(201)
  const { key, ...shown } = answer.body.data
  expect(shown).toMatchObject({ scopes: ['api', 'operator:read'], isOwn: false })
  const http = httpAs(harness.url, key)
  expect((await http('GET', '/v1/w3s/walletSets')).status).toBe(200)
  const listed = await http('GET', '/operator/apiKeys')
  expect(listed.body.data).toContainEqual(expect.objectContaining({ ...shown, isOwn: true }))
  // Neither the key nor its secret is anywhere else.
  const secret = key.split(':')[2]
  const requestId = answer.headers.get('x-request-id')
  const isLogged = async () => (await tenant.http('GET', `/operator/requests/${requestId}`)).status === 200
  await until(isLogged, 'the request is logged')
  const tables = await harness.database.all<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'public'`,
  )
  for (const { name } of tables) {
    const { found } = await harness.database.one<{ found: number }>(
      sql`select count(*) as found from ${raw(name)} t where strpos(t::text, ${secret}) > 0`,
    )
    expect([name, found]).toEqual([name, 0])
  }
  const trail = await own.call('GET', `/operator/events?resourceId=${shown.id}`)
  expect(trail).toMatchObject([{ type: 'apiKey.created', data: { scopes: ['api', 'operator:read'] } }])
  expect(trail[0].actor).toMatch(/^key:/)
  expect(trail[0].requestId).toBe(requestId)
  expect((await tenant.http('DELETE', `/operator/apiKeys/${shown.id}`)).status).toBe(204)
  await until(async () => (await http('GET', '/v1/w3s/walletSets')).status === 401, 'it stops working')
  expect((await tenant.http('DELETE', `/operator/apiKeys/${shown.id}`)).status).toBe(204)
  const events = await own.call('GET', `/operator/events?resourceId=${shown.id}`)
  expect(events.map(({ type }: { type: string }) => type)).toEqual(['apiKey.revoked', 'apiKey.created'])
  const [newest] = await own.call('GET', '/operator/apiKeys')
  expect(newest).toMatchObject({ id: shown.id, revokedDate: expect.any(String) })
})

it('property 182: a key makes no key with more scopes than its own, and none revokes itself', async () => {
  const tenant = await harness.newEntity()
  const cases: [readonly KeyScope[], readonly KeyScope[], string | undefined][] = [
    [['operator:write'], ['api'], 'api'],
    [['operator:write'], ['operator:read'], 'operator:read'],
    [['operator:write'], ['client'], 'api'],
    [['operator:write'], ['operator:write'], undefined],
    [['api', 'operator:write'], ['client'], undefined],
    [['api', 'operator:write'], ['api', 'operator:read'], 'operator:read'],
    [
      ['api', 'operator:read', 'operator:write'],
      ['operator:write', 'operator:read', 'api', 'api'],
      undefined,
    ],
  ]
  for (const [own, scopes, missing] of cases) {
    const { http } = await withScopes(tenant, own)
    const { status, body, text } = await http('POST', '/operator/apiKeys', { body: { scopes } })
    if (missing === undefined) {
      expect([status, [...body.data.scopes].sort()], text).toEqual([201, [...new Set(scopes)].sort()])
    } else {
      expect([status, body.errors[0].location], text).toEqual([403, 'scopes'])
      expect(body.message).toContain(`scope ${missing}`)
    }
  }
  const reader = await withScopes(tenant, ['api', 'operator:read'])
  const slip = await tenant.http('POST', '/operator/apiKeys', { body: { scope: ['api'] } })
  expect([slip.status, slip.body.errors]).toEqual([
    400,
    [
      expect.objectContaining({
        location: 'scope',
        invalidValue: ['api'],
        message: expect.stringContaining('did you mean scopes?'),
      }),
    ],
  ])
  expect((await reader.http('POST', '/operator/apiKeys', { body: {} })).status).toBe(403)
  expect((await reader.http('DELETE', `/operator/apiKeys/${reader.id}`)).status).toBe(403)
  const writer = await withScopes(tenant, ['operator:write'])
  const itself = await writer.http('DELETE', `/operator/apiKeys/${writer.id}`)
  expect([itself.status, itself.body.message]).toEqual([409, expect.stringContaining('cannot revoke itself')])
  // A key that is revoked makes none in the second in which it may still be trusted.
  await tenant.http('DELETE', `/operator/apiKeys/${writer.id}`)
  expect(
    (await writer.http('POST', '/operator/apiKeys', { body: { scopes: ['operator:write'] } })).status,
  ).toBe(401)
})

it('refuses wrong scopes, and keys of others as unknown ones', async () => {
  const tenant = await harness.newEntity()
  for (const scopes of [[], ['root'], ['client', 'api'], 'api', ['api', 'api', 'api', 'api', 'api'], null]) {
    const { status, body } = await tenant.http('POST', '/operator/apiKeys', { body: { scopes } })
    if (scopes === null) expect(status).toBe(201)
    else
      expect([scopes, status, body.errors[0].location]).toEqual([
        scopes,
        400,
        expect.stringContaining('scopes'),
      ])
  }
  const { id } = await makeApiKey(world)
  const foreign = await tenant.http('DELETE', `/operator/apiKeys/${id}`)
  const unknown = await tenant.http('DELETE', `/operator/apiKeys/${randomUUID()}`)
  expect([foreign.status, foreign.body.code]).toEqual([404, unknown.body.code])
  const { revokedDate } = (await world.call('GET', '/operator/apiKeys')).find(
    (key: { id: string }) => key.id === id,
  )
  expect(revokedDate).toBeUndefined()
})
