import { randomBytes, randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { tenantOf } from '../../../testing/tenant.ts'

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
