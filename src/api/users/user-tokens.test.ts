import { createHmac, createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { internalIdOf, makeUser, tokenOf } from '#testing/builders/users'
import { worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs, type Tenant } from '#testing/platform/tenant'
import { signJwt } from '#testing/servers/jwt'

let harness: Harness
let userId: string
let token: string

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  userId = (await makeUser(worldOf(harness))).id
  token = await tokenOf(worldOf(harness), userId)
})
afterAll(() => harness?.close())

const statusOf = async (userToken: string | undefined, tenant: Tenant = harness) => {
  const headers = { 'X-User-Token': userToken }
  const { status, body } = await tenant.http('GET', '/v1/w3s/user', { headers })
  return status === 200 ? body.data.id : [status, body.code]
}
const partsOf = (jwt: string) => jwt.split('.') as [string, string, string]
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const keySet = async () => (await httpAs(harness.url, undefined)('GET', '/.well-known/jwks.json')).body.keys

describe('user tokens', () => {
  it('have the documented claims, and verify with the published keys', async () => {
    const client = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
    const { userToken, encryptionKey } = (await client.createUserToken({ userId })).data!
    const [head, payload, signature] = partsOf(userToken)
    const { iat, ...claims } = decoded(payload)
    expect(claims).toEqual({
      iss: harness.url,
      sub: userId,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      exp: iat + 3_600,
      developerEntityEnvironment: 'TEST',
      entityId: harness.entityId,
      internalUserId: await internalIdOf(worldOf(harness), userId),
    })
    expect(Buffer.from(encryptionKey!, 'base64')).toHaveLength(32)
    const keys = await keySet()
    const { kid, alg } = decoded(head)
    expect([alg, keys.map((key: { kid: string }) => key.kid)]).toEqual(['RS256', [kid]])
    expect(Object.keys(keys[0]).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    const key = createPublicKey({ key: keys[0], format: 'jwk' })
    const signed = Buffer.from(`${head}.${payload}`)
    expect(verify('sha256', signed, key, Buffer.from(signature, 'base64url'))).toBe(true)
    expect((await client.getUserStatus({ userToken })).data!.id).toBe(userId)
    // Older tokens stay valid.
    expect(await statusOf(token)).toBe(userId)
  })

  it('are not kept, and neither are their keys in the clear', async () => {
    const { userToken, encryptionKey } = await worldOf(harness).call('POST', '/v1/w3s/users/token', {
      userId,
    })
    const [row] = await harness.database.all<{ text: string }>(
      sql`select t::text as text from user_tokens t where id = ${decoded(partsOf(userToken)[1]).jti}`,
    )
    expect(row!.text).not.toContain(partsOf(userToken)[2])
    expect(row!.text).not.toContain(Buffer.from(encryptionKey!, 'base64').toString('hex'))
  })

  it('are for users of the entity alone', async () => {
    const other = await harness.newEntity()
    const make = (tenant: Tenant, id: string) =>
      tenant.http('POST', '/v1/w3s/users/token', { body: { userId: id } })
    for (const [tenant, id] of [
      [other, userId],
      [harness, randomUUID()],
    ] as const) {
      const { status, body } = await make(tenant, id)
      expect([status, body.code, body.errors[0].location]).toEqual([404, 155102, 'userId'])
    }
  })
})

describe('property 85: a request acts for a user only with a token that this server issued to its entity', () => {
  it.each(['', 'x', 'a.b.c', 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln', '..', 'null', 'x'.repeat(8_000)])(
    'refuses garbage %#',
    async (text) => expect(await statusOf(text)).toEqual([403, 155105]),
  )

  it('refuses a missing token', async () => expect(await statusOf(undefined)).toEqual([401, 155103]))

  it('refuses forged headers, keys and claims', async () => {
    const [head, payload, signature] = partsOf(token)
    const { kid } = decoded(head)
    const claims = decoded(payload)
    const own = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const [jwk] = await keySet()
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const hmacOf = (key: string) => {
      const signed = `${encoded({ alg: 'HS256', typ: 'JWT', kid })}.${payload}`
      return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
    }
    const signed = (header: object, changed: object = claims) => signJwt(header, changed, own.privateKey)
    const forged = {
      none: `${encoded({ alg: 'none', typ: 'JWT', kid })}.${payload}.`,
      'None, with a signature': `${encoded({ alg: 'None', typ: 'JWT', kid })}.${payload}.${signature}`,
      'the public key as a secret': hmacOf(String(pem)),
      'the published key as a secret': hmacOf(JSON.stringify(jwk)),
      'another key under this kid': signed({ alg: 'RS256', typ: 'JWT', kid }),
      'another key under its own kid': signed({ alg: 'RS256', typ: 'JWT', kid: randomUUID() }),
      'no kid': `${encoded({ alg: 'RS256', typ: 'JWT' })}.${payload}.${signature}`,
      'a key in the header': signed({
        alg: 'RS256',
        typ: 'JWT',
        kid: randomUUID(),
        jwk: own.publicKey.export({ format: 'jwk' }),
      }),
      'a kid of another form': signed({ alg: 'RS256', typ: 'JWT', kid: "' or true --" }),
      'another user': `${head}.${encoded({ ...claims, sub: 'victim' })}.${signature}`,
      'a later end': `${head}.${encoded({ ...claims, exp: claims.exp + 1 })}.${signature}`,
      'another type': `${encoded({ ...decoded(head), typ: 'device+jwt' })}.${payload}.${signature}`,
      'two tokens': `${token}, ${token}`,
      'a cut signature': token.slice(0, -4),
      'no signature': `${head}.${payload}.`,
    }
    for (const [name, text] of Object.entries(forged))
      expect([name, await statusOf(text)]).toEqual([name, [403, 155105]])
    expect(await statusOf(token)).toBe(userId)
  })

  it('refuses the token of another entity, also when it has expired', async () => {
    const other = await harness.newEntity()
    const fresh = await tokenOf(worldOf(harness), userId)
    expect(await statusOf(fresh, other)).toEqual([403, 155105])
    await later(3_601_000, async () => expect(await statusOf(fresh, other)).toEqual([403, 155105]))
    // A user of the same name there is another user.
    await makeUser(worldOf(harness, other), userId)
    expect(await statusOf(fresh, other)).toEqual([403, 155105])
  })

  it('refuses a token from the second of its end on', async () => {
    const fresh = await tokenOf(worldOf(harness), userId)
    const { exp } = decoded(partsOf(fresh)[1])
    harness.clock.hold(exp * 1_000 - 1)
    expect(await statusOf(fresh)).toBe(userId)
    harness.clock.hold(exp * 1_000)
    expect(await statusOf(fresh)).toEqual([403, 155104])
    harness.clock.release()
  })

  it('refuses a token that was removed, and that of a disabled user', async () => {
    const fresh = await tokenOf(worldOf(harness), userId)
    const { database } = harness
    const setStatus = (status: string) =>
      database.run(sql`update users set status = ${status} where user_id = ${userId}`)
    await setStatus('DISABLED')
    expect(await statusOf(fresh)).toEqual([409, 155109])
    const { status, body } = await harness.http('POST', '/v1/w3s/users/token', { body: { userId } })
    expect([status, body.code]).toEqual([409, 155109])
    await setStatus('ENABLED')
    expect(await statusOf(fresh)).toBe(userId)
    await database.run(sql`delete from user_tokens where id = ${decoded(partsOf(fresh)[1]).jti}`)
    expect(await statusOf(fresh)).toEqual([401, 155103])
  })

  it('signs with a new key each month, and accepts the former one as long as its tokens live', async () => {
    const kidOf = (jwt: string) => decoded(partsOf(jwt)[0]).kid
    const [first] = await keySet()
    await later(30 * 86_400_000, async () => {
      const made = await Promise.all([1, 2, 3].map(() => tokenOf(worldOf(harness), userId)))
      expect(new Set(made.map(kidOf)).size).toBe(1)
      expect(kidOf(made[0]!)).not.toBe(first.kid)
      expect(await statusOf(made[0])).toBe(userId)
      expect((await keySet()).map((key: { kid: string }) => key.kid)).toEqual([kidOf(made[0]!), first.kid])
    })
    await later(46 * 86_400_000, async () => {
      expect((await keySet()).map((key: { kid: string }) => key.kid)).not.toContain(first.kid)
    })
  })
})

/** Runs `act` while the clock is ahead by this much. */
async function later(byMs: number, act: () => Promise<void>): Promise<void> {
  harness.clock.moveMs(byMs)
  await act().finally(() => harness.clock.moveMs(-byMs))
}
