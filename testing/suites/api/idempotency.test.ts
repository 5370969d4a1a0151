import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { errorKinds } from '#lib/error-kinds'

import { type World, worldOf } from '#testing/builders/world'
import { deaths, whileDying } from '#testing/databases/dying-connection'
import { rowsAdded, type WriteWatch, watchWrites } from '#testing/databases/tables'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { HttpAnswer } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { addressOf, type SampleRequest } from '#testing/requests/sample-request'
import { sampleRequests } from '#testing/requests/sample-requests'
import { drawnThird } from '#testing/runner/drawn'
import { sizeOf } from '#testing/runner/size'

/*
 * A request that carries an idempotencyKey may be sent any number of times, by any number of clients at once: it takes
 * effect once. Proven for every operation that takes a key.
 */
const operations = endpoints
  .filter((endpoint) => endpoint.idempotent)
  .map((endpoint) => ({ endpoint, name: `${endpoint.method} ${endpoint.path}` }))

const twins = sizeOf('IDEMPOTENT_TWINS', { usual: 4, deep: 100 })

/** Moments at which the connection to the database is lost: after all writes, and in the middle of the commit. */
const table = 'idempotency_keys'

let harness: Harness
let world: World
let other: World
let writes: WriteWatch

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness, await harness.newEntity())
  other = worldOf(harness, await harness.newEntity())
  await Promise.all(
    [world, other].map((each) =>
      Promise.all([
        each.walletSet(),
        each.fundedWallet(),
        each.money(),
        each.paidIntent(),
        each.payee(),
        each.ownAddress(),
        each.collection(),
      ]),
    ),
  )
  await harness.stopEngines()
  writes = await watchWrites(harness.connection)
})
afterAll(async () => {
  await writes?.close()
  await harness?.close()
})

it('has a request for every operation with an idempotency key', () => {
  const missing = operations.filter(({ name }) => {
    const samples = sampleRequests[name]
    return !samples?.changes || !samples.refused
  })
  expect(missing.map(({ name }) => name)).toEqual([])
  expect(operations.length).toBeGreaterThan(0)
})

describe.each(drawnThird(operations))('$name', ({ endpoint, name }) => {
  const { request, changes, refused } = sampleRequests[name]!
  const first = endpoint.status ?? 200
  const replay = endpoint.idempotent!.replayStatus ?? 200
  const send = (made: SampleRequest, from: World = world) =>
    from.tenant.http(endpoint.method, addressOf(endpoint.path, made.params), {
      body: made.body,
      ...(made.headers && { headers: made.headers }),
    })

  it(`property 7: ${twins} identical concurrent requests create one resource`, async () => {
    // The first request of an entity may create rows that all later ones use.
    expect((await send(await request(world))).status).toBe(first)
    const one = await request(world)
    const ofOne = await countsOf(() => send(one))
    expect(ofOne.answer.status).toBe(first)
    const made = await request(world)
    const bodies = await Promise.all(Array.from({ length: twins }, () => resealed(world, made)))
    const before = await writes.mark()
    const answers = await Promise.all(bodies.map((body) => send({ ...made, body })))
    const ofMany = rowsAdded(await writes.since(before))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(twins - 1).fill(replay), first].sort())
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(ofMany).toEqual(ofOne.added)
  })

  it('property 8: refuses the key with any other field, and changes nothing', async () => {
    const made = await request(world)
    expect((await send(made)).status).toBe(first)
    const { status, code } = errorKinds[endpoint.idempotent!.conflict]
    const others = await changes!(world)
    for (const [field, value] of Object.entries(others)) {
      const before = await writes.mark()
      const body = { ...(await resealed(world, made)), [field]: value }
      const answer = await send({ ...made, body })
      expect([field, answer.status, answer.body.code]).toEqual([field, status, code])
      expect(await writes.since(before)).toEqual({})
    }
  })

  it('property 131: ignores fields that client libraries add, null in optional ones, and the letter case of names and of the key', async () => {
    const made = await request(world)
    const { properties = {}, required = [] } = endpoint.body as { properties?: object; required?: string[] }
    const absent = Object.keys(properties).filter(
      (field) => !required.includes(field) && !Object.hasOwn(made.body!, field),
    )
    const nulls = Object.fromEntries(absent.map((field) => [field, null]))
    const answer = await send({ ...made, body: { ...made.body, ...nulls } })
    expect(answer.status, answer.text).toBe(first)
    const { idempotencyKey, ...fields } = await resealed(world, made)
    const shoutedFields = Object.entries(fields).map(([field, value]) => [field.toUpperCase(), value])
    const body: Record<string, unknown> = { idempotencyKey, ...Object.fromEntries(shoutedFields) }
    const shouted = String(body['idempotencyKey']).toUpperCase()
    const isOwn = endpoint.path.startsWith('/operator/')
    const again = await send({
      ...made,
      // Operations of operators have no published client that adds fields: they refuse one that they do not know.
      body: { ...body, idempotencyKey: shouted, ...(isOwn ? {} : { xRequestId: randomUUID() }) },
    })
    expect([again.status, again.text]).toEqual([replay, answer.text])
  })

  it('property 8: is independent of the same key from another tenant', async () => {
    const made = await request(world)
    const theirs = await request(other)
    theirs.body!['idempotencyKey'] = made.body!['idempotencyKey']
    const [one, two] = [await send(made), await send(theirs, other)]
    expect([one.status, two.status]).toEqual([first, first])
    expect(one.text).not.toBe(two.text)
  })

  it('property 8: does not bind the key of a refused request', async () => {
    const made = await request(world)
    const before = await writes.mark()
    const failed = await send({ ...made, body: { ...made.body, ...(await refused!(world)) } })
    expect(failed.status, failed.text).toBeGreaterThanOrEqual(400)
    expect(failed.status, failed.text).toBeLessThan(500)
    expect(await writes.since(before)).toEqual({})
    const answer = await send({ ...made, body: await resealed(world, made) })
    expect(answer.status, answer.text).toBe(first)
  })

  it.each(deaths)('property 8: accepts the same bytes again after a 5xx, when $name', async ({ trigger }) => {
    // The first request of an entity may create rows that all later ones use.
    expect((await send(await request(world))).status).toBe(first)
    const one = await request(world)
    const usual = await countsOf(() => send(one))
    const made = await request(world)
    const before = await writes.mark()
    const failed = await whileDying(harness.connection, table, trigger, () => send(made))
    expect(failed.status, failed.text).toBeGreaterThanOrEqual(500)
    expect(await writes.since(before)).toEqual({})
    // The same bytes, the ciphertext too, as clients repeat what was answered with 503.
    const { answer, added } = await countsOf(() => send(made))
    expect(answer.status, answer.text).toBe(first)
    expect(added).toEqual(usual.added)
    const third = await countsOf(async () => send({ ...made, body: await resealed(world, made) }))
    expect([third.answer.status, third.answer.text]).toEqual([replay, answer.text])
    expect(third.added).toEqual({})
  })

  it('property 8: still knows the key after 400 days', async () => {
    // A user token does not live that long.
    if (endpoint.userToken === 'required') return
    const made = await request(world)
    const answer = await send(made)
    harness.clock.moveMs(400 * 86_400_000)
    const again = await send({ ...made, body: await resealed(world, made) })
    harness.clock.moveMs(-400 * 86_400_000)
    const { expired } = endpoint.idempotent!
    if (!expired) expect([again.status, again.text]).toEqual([replay, answer.text])
    else
      expect([again.status, again.body.code]).toEqual([errorKinds[expired].status, errorKinds[expired].code])
  })

  it('requires the key, as a UUID', async () => {
    const made = await request(world)
    const { idempotencyKey: _, ...without } = made.body!
    for (const key of [undefined, null, '', 'x', 1, `${randomUUID()}0`, `{${randomUUID()}}`]) {
      const body = key === undefined ? without : { ...without, idempotencyKey: key }
      const answer = await send({ ...made, body })
      expect([key, answer.status, answer.body.code]).toEqual([key, 400, 2])
      expect(answer.body.errors[0].location).toBe('idempotencyKey')
    }
  })
})

describe('a repeated request returns the current state of', () => {
  it('a renamed wallet set', async () => {
    const made = await sampleRequests['POST /v1/w3s/developer/walletSets']!.request(world)
    const path = '/v1/w3s/developer/walletSets'
    const { body } = await world.tenant.http('POST', path, { body: made.body })
    await world.call('PUT', `${path}/${body.data.walletSet.id}`, { name: 'Renamed since' })
    const again = await world.tenant.http('POST', path, { body: await resealed(world, made) })
    expect(again.body.data.walletSet).toMatchObject({ id: body.data.walletSet.id, name: 'Renamed since' })
  })

  it('a completed transfer', async () => {
    harness.startEngines()
    const path = '/v1/w3s/developer/transactions/transfer'
    const made = await sampleRequests[`POST ${path}`]!.request(world)
    const { body } = await world.tenant.http('POST', path, { body: made.body })
    await until(async () => {
      const { transaction } = await world.call('GET', `/v1/w3s/transactions/${body.data.id}`)
      return transaction.state === 'COMPLETE'
    }, 'the transfer is complete')
    const again = await world.tenant.http('POST', path, { body: await resealed(world, made) })
    expect(again.body.data).toEqual({ id: body.data.id, state: 'COMPLETE' })
    await harness.stopEngines()
  })
})

/** Rows that an accepted request adds to each table, without used ciphertexts. */
async function countsOf(act: () => Promise<HttpAnswer>) {
  const before = await writes.mark()
  const answer = await act()
  return { answer, added: rowsAdded(await writes.since(before)) }
}

/** The same request repeated as by a client: same key, a new ciphertext. */
async function resealed(from: World, { body = {} }: SampleRequest): Promise<Record<string, unknown>> {
  if (!('entitySecretCiphertext' in body)) return body
  return { ...body, entitySecretCiphertext: await from.tenant.sealSecret() }
}
