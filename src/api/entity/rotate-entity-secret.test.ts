import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { type Tenant, tenantOf } from '../../../testing/tenant.ts'

const path = '/v1/w3s/config/entity/entitySecret'
let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

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
