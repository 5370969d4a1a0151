import { randomBytes, randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type Tenant, tenantOf } from '#testing/platform/tenant'

const path = '/v1/w3s/config/entity/entitySecret'
let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

/** An entity as `bezant keys create-entity` leaves it: with an API key, and no secret yet. */
async function newcomer() {
  const nowMs = harness.clock.nowMs()
  const entityId = randomUUID()
  await insertEntity(harness.database, { id: entityId, environment: 'TEST', name: 'newcomer', nowMs })
  const { text: apiKey } = await insertApiKey(harness.database, { entityId, environment: 'TEST', nowMs })
  return tenantOf(harness.url, { entityId, apiKey, entitySecret: randomBytes(32).toString('hex') })
}

describe('registering an entity secret', () => {
  it('returns a recovery file once, after which the secret creates wallets through the published client', async () => {
    const tenant = await newcomer()
    const body = async () => ({ entitySecretCiphertext: await tenant.sealSecret() })
    const first = await tenant.http('POST', path, { body: await body() })
    expect(first.status).toBeLessThan(300)
    expect(first.body.data.recoveryFile).toMatch(/^[A-Za-z0-9+/]+=*$/)
    const second = await tenant.http('POST', path, { body: await body() })
    expect([second.status, second.body.code]).toEqual([409, 156015])
    const { apiKey, entitySecret } = tenant
    const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: harness.url })
    const { walletSet } = (await client.createWalletSet({ name: 'mine' })).data!
    expect(walletSet!.id).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('is required before any operation with keys', async () => {
    const tenant = await newcomer()
    const body = {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await tenant.sealSecret(),
      name: 'too early',
    }
    const refused = await tenant.http('POST', '/v1/w3s/developer/walletSets', { body })
    expect([refused.status, refused.body.code]).toEqual([403, 156016])
  })
})

/** A client of the same entity with another secret. */
const withSecret = ({ entityId, apiKey }: Tenant, entitySecret = randomBytes(32).toString('hex')) =>
  tenantOf(harness.url, { entityId, apiKey, entitySecret })

const makeSet = async (tenant: Tenant) => {
  const body = { idempotencyKey: randomUUID(), entitySecretCiphertext: await tenant.sealSecret() }
  return tenant.http('POST', '/v1/w3s/developer/walletSets', { body })
}

describe('PUT /v1/w3s/config/entity/entitySecret', () => {
  it('replaces the secret with proof by the old one, then by the recovery file', async () => {
    const old = await harness.newEntity()
    const set = (await makeSet(old)).body.data.walletSet.id
    const fresh = withSecret(old)
    const rotated = await fresh.http('PUT', path, {
      body: {
        entitySecretCiphertext: await old.sealSecret(),
        newEntitySecretCiphertext: await fresh.sealSecret(),
      },
    })
    expect([rotated.status, Object.keys(rotated.body.data)]).toEqual([200, ['recoveryFile']])
    expect((await makeSet(old)).body.code).toBe(156013)
    expect((await makeSet(fresh)).status).toBe(201)
    const recovered = withSecret(old)
    const { recoveryFile } = rotated.body.data
    const newEntitySecretCiphertext = await recovered.sealSecret()
    const put = await recovered.http('PUT', path, { body: { recoveryFile, newEntitySecretCiphertext } })
    expect(put.status).toBe(200)
    const wallets = await recovered.http('POST', '/v1/w3s/developer/wallets', {
      body: {
        idempotencyKey: randomUUID(),
        entitySecretCiphertext: await recovered.sealSecret(),
        walletSetId: set,
        blockchains: ['BASE-SEPOLIA'],
      },
    })
    expect(wallets.status).toBe(201)
    const again = { recoveryFile, newEntitySecretCiphertext: await recovered.sealSecret() }
    expect(await recovered.http('PUT', path, { body: again })).toMatchObject({
      status: 403,
      body: { code: 156018 },
    })
  })

  it('requires exactly one proof and valid, unused ciphertexts', async () => {
    const tenant = await harness.newEntity()
    const fresh = withSecret(tenant)
    const put = async (body: object) => {
      const newEntitySecretCiphertext = await fresh.sealSecret()
      const { status, body: answer } = await fresh.http('PUT', path, {
        body: { newEntitySecretCiphertext, ...body },
      })
      return [status, answer.code]
    }
    const entitySecretCiphertext = await tenant.sealSecret()
    expect(await put({})).toEqual([400, 2])
    expect(await put({ entitySecretCiphertext, recoveryFile: 'x' })).toEqual([400, 2])
    expect(await put({ recoveryFile: 'x' })).toEqual([403, 156018])
    expect(await put({ entitySecretCiphertext: await fresh.sealSecret() })).toEqual([400, 156013])
    expect(await put({ entitySecretCiphertext, newEntitySecretCiphertext: 'x' })).toEqual([400, 156013])
    const both = { entitySecretCiphertext, newEntitySecretCiphertext: entitySecretCiphertext }
    expect(await put(both)).toEqual([400, 156004])
    expect((await makeSet(tenant)).status).toBe(201)
  })
})

describe('GET /v1/w3s/config/entity', () => {
  it('returns the app id and a stable public key', async () => {
    const { data } = (await harness.http('GET', '/v1/w3s/config/entity')).body
    expect(data).toEqual({ appId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    const read = async () =>
      (await harness.http('GET', '/v1/w3s/config/entity/publicKey')).body.data.publicKey
    expect(await read()).toMatch(/^-----BEGIN PUBLIC KEY-----\n[\s\S]+\n-----END PUBLIC KEY-----\n$/)
    expect(await read()).toBe(await read())
  })
})
