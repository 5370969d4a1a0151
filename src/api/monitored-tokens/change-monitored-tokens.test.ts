import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { sql } from '#runtime/db/db'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'

const path = '/v1/w3s/config/entity/monitoredTokens'
const [usdc, eurc] = baseSepolia.tokens.map((token) => token.id) as [string, string]
let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

const listed = async (tenant: Tenant, query: Record<string, string> = {}) => {
  const { body } = await tenant.http('GET', path, { query })
  return { scope: body.data.scope, ids: body.data.tokens.map((token: { id: string }) => token.id).sort() }
}
const events = (tenant: Tenant) =>
  harness.database.all<{ type: string }>(
    sql`select type from events where entity_id = ${tenant.entityId} and type like 'monitoredTokens.%' order by id`,
  )

it('answer 204 before the first choice', async () => {
  const tenant = await harness.newEntity()
  const answer = await tenant.http('GET', path)
  expect([answer.status, answer.text]).toEqual([204, ''])
})

it('are added with 201, or 200 when none is new', async () => {
  const tenant = await harness.newEntity()
  const add = (...tokenIds: string[]) => tenant.http('POST', path, { body: { tokenIds } })
  const first = await add(usdc)
  expect(first).toMatchObject({ status: 201, body: { data: { scope: 'SELECTED', tokens: [{ id: usdc }] } } })
  expect((await add(usdc)).status).toBe(200)
  expect((await add(usdc, eurc)).status).toBe(201)
  expect(await listed(tenant)).toEqual({ scope: 'SELECTED', ids: [usdc, eurc].sort() })
  expect(await events(tenant)).toEqual([{ type: 'monitoredTokens.added' }, { type: 'monitoredTokens.added' }])
})

it('are filtered by chain, address in any case and symbol', async () => {
  const tenant = await harness.newEntity()
  await tenant.http('POST', path, { body: { tokenIds: [usdc, eurc] } })
  expect((await listed(tenant, { symbol: 'EURC' })).ids).toEqual([eurc])
  expect((await listed(tenant, { tokenAddress: baseSepolia.tokens[0]!.address })).ids).toEqual([usdc])
  expect((await listed(tenant, { blockchain: 'BASE-SEPOLIA' })).ids).toHaveLength(2)
  expect((await listed(tenant, { blockchain: 'ETH-SEPOLIA' })).ids).toEqual([])
})

it('are replaced and removed', async () => {
  const tenant = await harness.newEntity()
  await tenant.http('POST', path, { body: { tokenIds: [usdc] } })
  const replaced = await tenant.http('PUT', path, { body: { tokenIds: [eurc] } })
  expect(replaced).toMatchObject({ status: 200, body: { data: { tokens: [{ id: eurc }] } } })
  expect((await listed(tenant)).ids).toEqual([eurc])
  const removed = await tenant.http('POST', `${path}/delete`, { body: { tokenIds: [eurc] } })
  expect(removed.status).toBe(200)
  expect(await listed(tenant)).toEqual({ scope: 'SELECTED', ids: [] })
})

it('are kept while the scope is MONITOR_ALL', async () => {
  const tenant = await harness.newEntity()
  await tenant.http('POST', path, { body: { tokenIds: [usdc] } })
  const answer = await tenant.http('PUT', `${path}/scope`, { body: { scope: 'MONITOR_ALL' } })
  expect(answer.status).toBe(200)
  expect(await listed(tenant)).toEqual({ scope: 'MONITOR_ALL', ids: [usdc] })
})

it('belong to one entity', async () => {
  const [one, other] = [await harness.newEntity(), await harness.newEntity()]
  await one.http('POST', path, { body: { tokenIds: [usdc] } })
  expect((await other.http('GET', path)).status).toBe(204)
})

it('are refused when unknown, malformed or empty, without a change', async () => {
  const tenant = await harness.newEntity()
  const unknown = await tenant.http('POST', path, { body: { tokenIds: [usdc, randomUUID()] } })
  expect(unknown).toMatchObject({
    status: 404,
    body: { code: 156002, errors: [{ location: 'tokenIds[1]' }] },
  })
  for (const tokenIds of [[], ['nonsense'], 'all', undefined, [usdc, usdc]]) {
    const answer = await tenant.http('POST', path, { body: { tokenIds } })
    expect(answer).toMatchObject({ status: 400, body: { code: 2 } })
  }
  const scope = await tenant.http('PUT', `${path}/scope`, { body: { scope: 'SOME' } })
  expect(scope).toMatchObject({ status: 400, body: { code: 2, errors: [{ location: 'scope' }] } })
  expect((await tenant.http('GET', path)).status).toBe(204)
})
