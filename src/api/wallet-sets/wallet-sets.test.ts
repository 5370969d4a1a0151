import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { walletSetsMax } from '#custody/wallets/index'
import { sql } from '#runtime/db/db'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'

const path = '/v1/w3s/developer/walletSets'
let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

const bodyOf = async (rest: object = {}, tenant: Tenant = harness) => ({
  idempotencyKey: randomUUID(),
  entitySecretCiphertext: await tenant.sealSecret(),
  ...rest,
})
const create = async (rest: object = {}, tenant: Tenant = harness) =>
  tenant.http('POST', path, { body: await bodyOf(rest, tenant) })

describe('POST /v1/w3s/developer/walletSets', () => {
  it('creates a set and returns it with its name', async () => {
    const made = await create({ name: 'Savings' })
    const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const set = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      custodyType: 'DEVELOPER',
      name: 'Savings',
      createDate: date,
      updateDate: date,
    }
    expect([made.status, made.body]).toEqual([201, { data: { walletSet: set } }])
    const read = await harness.http('GET', `/v1/w3s/walletSets/${made.body.data.walletSet.id}`)
    expect([read.status, read.body]).toEqual([200, made.body])
  })

  it('omits a missing name', async () => {
    expect(Object.keys((await create()).body.data.walletSet)).not.toContain('name')
  })

  it('answers a repeated request with the set, also with a used ciphertext', async () => {
    const body = await bodyOf({ name: 'Once' })
    const first = await harness.http('POST', path, { body })
    const again = await harness.http('POST', path, { body })
    const anew = { ...body, entitySecretCiphertext: await harness.sealSecret() }
    const fresh = await harness.http('POST', path, { body: anew })
    expect([first.status, again.status, fresh.status]).toEqual([201, 200, 200])
    expect([again.body, fresh.body]).toEqual([first.body, first.body])
  })

  it('lets 20 concurrent duplicates with one ciphertext wait for the first and return its set', async () => {
    const body = await bodyOf({ name: 'Twins' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => harness.http('POST', path, { body })))
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(19).fill(200), 201])
    expect(new Set(answers.map((answer) => answer.body.data.walletSet.id)).size).toBe(1)
  })

  it('refuses an idempotency key of another request, and a used ciphertext', async () => {
    const body = await bodyOf({ name: 'One' })
    await harness.http('POST', path, { body })
    const other = { ...body, name: 'Two', entitySecretCiphertext: await harness.sealSecret() }
    expect(await harness.http('POST', path, { body: other })).toMatchObject({
      status: 403,
      body: { code: 156020 },
    })
    const reused = { ...body, idempotencyKey: randomUUID() }
    expect(await harness.http('POST', path, { body: reused })).toMatchObject({
      status: 400,
      body: { code: 156004 },
    })
  })

  it('creates one set from 40 requests with one ciphertext and separate keys', async () => {
    const body = await bodyOf()
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        harness.http('POST', path, { body: { ...body, idempotencyKey: randomUUID() } }),
      ),
    )
    expect(answers.filter((answer) => answer.status === 201).length).toBe(1)
    expect(answers.filter((answer) => answer.body.code === 156004).length).toBe(39)
  })

  it("refuses another tenant's secret without revealing why", async () => {
    const other = await harness.newEntity()
    const foreign = { ...(await bodyOf()), entitySecretCiphertext: await other.sealSecret() }
    const senseless = { ...(await bodyOf()), entitySecretCiphertext: 'x' }
    const [a, b] = [
      await harness.http('POST', path, { body: foreign }),
      await harness.http('POST', path, { body: senseless }),
    ]
    expect(a).toMatchObject({ status: 400, body: { code: 156013 } })
    expect(b.text).toBe(a.text)
  })

  it('enforces the documented limit of sets', async () => {
    const tenant = await harness.newEntity()
    const first = (await create({}, tenant)).body.data.walletSet.id
    const fill = sql`insert into wallet_sets (entity_id, id, custody_type, sealed_entropy, create_date, update_date)
      select entity_id, gen_random_uuid(), custody_type, sealed_entropy, create_date, update_date
      from wallet_sets, generate_series(1, ${walletSetsMax - 2}) where id = ${first}`
    await harness.database.run(fill)
    const answers = await Promise.all([create({}, tenant), create({}, tenant), create({}, tenant)])
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 403, 403])
  })

  it.each([
    ['name', { name: 'x'.repeat(257) }],
    ['name', { name: 5 }],
    ['idempotencyKey', { idempotencyKey: 'no uuid' }],
    ['idempotencyKey', { idempotencyKey: undefined }],
    ['entitySecretCiphertext', { entitySecretCiphertext: undefined }],
  ])('names %s when it is %j', async (location, rest) => {
    expect(await create(rest)).toMatchObject({ status: 400, body: { code: 2, errors: [{ location }] } })
  })
})

describe('PUT /v1/w3s/developer/walletSets/{id}', () => {
  const rename = (id: string, body: object, tenant: Tenant = harness) =>
    tenant.http('PUT', `${path}/${id}`, { body })

  it('renames, clears an empty name, and changes only updateDate', async () => {
    const { walletSet } = (await create({ name: 'Before' })).body.data
    harness.clock.moveMs(10)
    const renamed = (await rename(walletSet.id, { name: 'After' })).body.data.walletSet
    expect(renamed).toEqual({ ...walletSet, name: 'After', updateDate: renamed.updateDate })
    expect(renamed.updateDate > walletSet.updateDate).toBe(true)
    expect(Object.keys((await rename(walletSet.id, { name: '' })).body.data.walletSet)).not.toContain('name')
  })

  it('answers 156005 for an unknown or foreign set, 156009 for a malformed id', async () => {
    const other = await harness.newEntity()
    const { id } = (await create({}, other)).body.data.walletSet
    for (const absent of [id, randomUUID()]) {
      expect(await rename(absent, { name: 'x' })).toMatchObject({ status: 404, body: { code: 156005 } })
      const read = await harness.http('GET', `/v1/w3s/walletSets/${absent}`)
      expect(read).toMatchObject({ status: 404, body: { code: 156005 } })
    }
    expect(await rename('nonsense', {})).toMatchObject({ status: 400, body: { code: 156009 } })
  })
})
