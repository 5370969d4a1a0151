import { createHmac, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import type { JWTPayload } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { alarmCounts } from '#runtime/log/alarms'
import type { SocialProviderName } from '#runtime/social/types'
import { freshEmail, logIn } from '#testing/builders/users'
import { type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { openGraphApi } from '#testing/servers/graph-api'
import { signJwt } from '#testing/servers/jwt'
import { type OpenIdProvider, send } from '#testing/servers/openid-provider'
import {
  clientIdOf,
  newDevice,
  openProviderFor,
  type SentIdentity,
  sentIdentity,
  socialProviderOf,
  useProvider,
} from '#testing/servers/social-logins'

let harness: Harness
let world: World
let theirs: World
let google: OpenIdProvider
let apple: OpenIdProvider

beforeAll(async () => {
  harness = await openHarness({ engines: false, config: { socialProviders: [] } })
  world = worldOf(harness)
  theirs = worldOf(harness, await harness.newEntity())
  google = await socialProviderOf(world)
  await socialProviderOf(theirs)
  apple = await openProviderFor(harness)
  useProvider(world, apple.issuer, 'Apple')
})
afterAll(() => harness?.close())

/** A page sends no API key. */
const enter = async ({ deviceId: _, ...entered }: SentIdentity, changes: object = {}) => {
  const body = { ...entered, ...changes }
  const answer = await httpAs(harness.url, undefined)('POST', '/page/social/login', { body })
  return answer.status === 200 ? answer.body.data : [answer.status, answer.body.code]
}
/** A login with a token of its own. */
const enterToken = async (token: string, provider: SocialProviderName = 'Google') =>
  enter({ ...(await newDevice(world)), provider, token })
const idToken = (claims: JWTPayload = {}, header?: Parameters<OpenIdProvider['idToken']>[1]) =>
  google.idToken({ sub: randomUUID(), aud: clientIdOf(world), ...claims }, header)
const userOf = async (userToken: string) => {
  const headers = { 'X-User-Token': userToken }
  const { status, body } = await harness.http('GET', '/v1/w3s/user', { headers })
  return status === 200 ? body.data.id : [status, body.code]
}
const begin = async (tenant: World['tenant'], changes: object = {}) => {
  const body = { idempotencyKey: randomUUID(), deviceId: randomUUID(), ...changes }
  const answer = await tenant.http('POST', '/v1/w3s/users/social/token', { body })
  return answer.status === 200 ? answer.body.data : [answer.status, answer.body.code]
}
const seconds = () => Math.floor(harness.clock.nowMs() / 1_000)
const usersTotal = async () =>
  (await harness.database.one<{ count: number }>(sql`select count(*) as count from users`)).count

describe('a login by a social provider', () => {
  it('is begun and renewed by the published client, and makes one user for an identity', async () => {
    const client = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
    const deviceId = randomUUID()
    const device = (await client.createDeviceTokenForSocialLogin({ deviceId })).data!
    const claims = {
      sub: 'ada',
      name: 'Ada L.',
      email: 'Ada@example.com',
      email_verified: true,
      phone_number: '+33 1',
      phone_number_verified: false,
    }
    const entered = { deviceId, ...device, provider: 'Google', token: await idToken(claims) } as SentIdentity
    const session = await enter(entered)
    expect(session.oAuthInfo).toEqual({
      provider: 'Google',
      socialUserUUID: 'ada',
      socialUserInfo: { name: 'Ada L.', email: 'Ada@example.com' },
    })
    const { data } = await client.refreshUserToken({ ...session, deviceId })
    expect(data).toMatchObject({ userID: await userOf(session.userToken), encryptionKey: expect.any(String) })
    const { iat, exp } = JSON.parse(Buffer.from(data!.userToken!.split('.')[1]!, 'base64url').toString())
    expect(exp - iat).toBe(14 * 86_400)
    const again = await enterToken(await idToken({ sub: 'ada' }, { alg: 'RS256' }))
    expect(await userOf(again.userToken)).toBe(data!.userID)
    const used = client.refreshUserToken({ ...session, userToken: data!.userToken!, deviceId })
    await expect(used).rejects.toMatchObject({ response: { data: { code: 155105 } } })
    expect(await userOf(data!.userToken!)).toEqual([403, 155105])
    expect(await userOf(again.userToken)).toBe(data!.userID)
  })

  it('needs an active device token with its key, which works once', async () => {
    const [sent, other] = [await sentIdentity(world), await sentIdentity(world)]
    expect(await enter(sent, { deviceEncryptionKey: other.deviceEncryptionKey })).toEqual([400, 155144])
    expect(await enter(sent, { deviceToken: sent.token })).toEqual([400, 155144])
    await newDevice(world, other.deviceId)
    expect(await enter(other)).toEqual([404, 155145])
    expect(await enter(sent)).toHaveProperty('userToken')
    expect(await enter(sent, { token: await idToken() })).toEqual([404, 155145])
    const late = await sentIdentity(world)
    harness.clock.moveMs(600_000)
    expect(await enter(late)).toEqual([400, 155143])
    harness.clock.moveMs(-600_000)
  })

  it('is refused for a site that the entity does not list', async () => {
    const sent = await sentIdentity(world)
    expect(await enter(sent, { origin: 'https://thief.example' })).toEqual([403, 3])
    expect(await enter(sent, { origin: 'http://localhost:3000' })).toHaveProperty('userToken')
  })

  it('is refused to an entity without providers, and by a provider that it does not use', async () => {
    expect(await begin(await harness.newEntity())).toEqual([404, 155152])
    expect(await begin(harness, { deviceId: 'a b' })).toEqual([400, 155137])
    expect(await enterToken(await idToken(), 'Facebook')).toEqual([404, 155152])
    expect(await enterToken(await idToken(), 'Nobody' as 'Google')).toEqual([400, 2])
  })

  it('keeps the users of addresses apart from those of identities', async () => {
    const email = freshEmail()
    const byEmail = await userOf((await logIn(world, email)).userToken)
    const session = await enterToken(await idToken({ email, email_verified: true }))
    expect(session.oAuthInfo.socialUserInfo.email).toBe(email)
    expect(await userOf(session.userToken)).not.toBe(byEmail)
  })

  it('forgets what has expired', async () => {
    const rows = async () => {
      const counts: Record<string, number> = {}
      for (const table of [
        'device_tokens',
        'used_id_tokens',
        'sealed_answers',
        'refresh_tokens',
        'login_codes',
        'user_sessions',
        'login_limits',
      ]) {
        const text = `select count(*) as count from ${table} where expire_date <= '${new Date(harness.clock.nowMs()).toISOString()}'`
        counts[table] = (await harness.database.one<{ count: number }>({ text: [text], values: [] })).count
      }
      return counts
    }
    await logIn(world)
    await enter(await sentIdentity(world))
    harness.clock.moveMs(15 * 86_400_000)
    const before = await rows()
    expect(Math.min(...Object.values(before))).toBeGreaterThan(0)
    for (let round = 0; round < Math.max(...Object.values(before)) / 10; round++) {
      await logIn(world)
      await enter(await sentIdentity(world))
    }
    expect(await rows()).toEqual(Object.fromEntries(Object.keys(before).map((table) => [table, 0])))
    harness.clock.moveMs(-15 * 86_400_000)
  })
})

describe('property 98: a token that its provider did not issue to an app of the entity logs nobody in', () => {
  it('refuses other apps, issuers, keys, algorithms and times', async () => {
    const before = await usersTotal()
    const [head, payload] = (await idToken({}, { alg: 'RS256' })).split('.') as [string, string]
    const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const { kid } = decode(head)
    const claims = decode(payload)
    const jwk = google.keys().find((key) => key.kid === kid)!
    const hmac = (key: string) => {
      const signed = `${encode({ alg: 'HS256', kid })}.${payload}`
      return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
    }
    const own = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const later = seconds()
    const app = clientIdOf(world)
    const forged: Record<string, string> = {
      'another app': await idToken({ aud: 'another' }),
      'another app too': await idToken({ aud: [app, 'another'] }),
      'asked for by another app': await idToken({ azp: 'another' }),
      'an app of another entity': await idToken({ aud: clientIdOf(theirs) }),
      'no audience': await idToken({ aud: undefined as unknown as string }),
      'another issuer': await idToken({ iss: apple.issuer }),
      'the issuer with a slash': await idToken({ iss: `${google.issuer}/` }),
      'the token of another provider': await apple.idToken({ sub: 'ada', aud: app }),
      'no subject': await idToken({ sub: undefined as unknown as string }),
      'an empty subject': await idToken({ sub: '' }),
      'issued later': await idToken({ iat: later + 120, exp: later + 180 }),
      'valid later': await idToken({ nbf: later + 120 }),
      'no time of issue': await idToken({ iat: undefined as unknown as number }),
      'no end': await idToken({ exp: undefined as unknown as number }),
      'an access token': await idToken({}, { typ: 'at+jwt' }),
      none: `${encode({ alg: 'none', kid })}.${payload}.`,
      'the public key as a secret': hmac(
        String(createPublicKey({ key: { ...jwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' })),
      ),
      'the published key as a secret': hmac(JSON.stringify(jwk)),
      'another key under this kid': signJwt({ alg: 'RS256', kid }, claims, own.privateKey),
      'a key in the header': signJwt(
        { alg: 'RS256', kid: randomUUID(), jwk: own.publicKey.export({ format: 'jwk' }) },
        claims,
        own.privateKey,
      ),
      'another subject': [head, encode({ ...claims, sub: 'victim' }), 'c2ln'].join('.'),
      garbage: 'x',
      dots: '..',
    }
    for (const [name, token] of Object.entries(forged))
      expect([name, await enterToken(token)]).toEqual([name, [400, 155140]])
    expect(await enterToken(await idToken({ iat: later - 120, exp: later - 60 }))).toEqual([400, 155139])
    expect(await enterToken(await idToken({ iat: later - 7_200, exp: later + 60 }))).toEqual([400, 155139])
    expect(await usersTotal()).toBe(before)
  })

  it('refuses the token of an entity at another one, which shares the provider', async () => {
    const token = await idToken({ sub: 'shared' })
    expect(await enter({ ...(await newDevice(theirs)), provider: 'Google', token })).toEqual([400, 155140])
    const ours = await enterToken(token)
    const other = await enter(await sentIdentity(theirs, { sub: 'shared' }))
    expect(await userOf(ours.userToken)).toEqual(expect.any(String))
    expect(await userOf(other.userToken)).toEqual([403, 155105])
  })

  it('begins one session with an ID token, also when it comes many times at once', async () => {
    const token = await idToken()
    const devices = await Promise.all(Array.from({ length: 6 }, () => newDevice(world)))
    const answers = await Promise.all(
      devices.map((device) => enter({ ...device, provider: 'Google', token })),
    )
    expect(answers.filter((answer) => !Array.isArray(answer))).toHaveLength(1)
    expect(answers.filter(Array.isArray)).toEqual(Array(5).fill([400, 155140]))
    const signature = token.split('.')[2]!
    // The same signature in another spelling: the unused bits of the last character differ.
    const respelled = `${token.slice(0, -1)}${String.fromCharCode(signature.charCodeAt(signature.length - 1) + 1)}`
    expect(await enterToken(respelled)).toEqual([400, 155140])
  })

  it('accepts keys that came later, and no former ones', async () => {
    const former = await idToken()
    await google.rotate()
    harness.clock.moveMs(31_000)
    expect(await enterToken(await idToken())).toHaveProperty('userToken')
    expect(await enterToken(former)).toEqual([400, 155140])
    const asked = google.asked('/keys')
    for (const _ of [1, 2, 3])
      expect(await enterToken(await idToken({}, { kid: randomUUID() }))).toEqual([400, 155140])
    expect(google.asked('/keys')).toBe(asked)
    harness.clock.moveMs(-31_000)
  })

  it('accepts an access token of Facebook for the app alone', async () => {
    const graph = await openGraphApi((appId) => `secret of ${appId}`)
    harness.atClose(graph.close)
    const appId = '1234567890'
    harness.ctx.config.socialProviders.push({
      entityId: harness.entityId,
      provider: 'Facebook' as const,
      issuer: graph.url,
      clientIds: [appId],
      appSecret: `secret of ${appId}`,
    })
    const person = { appId, id: '77', name: 'Ada L.', email: 'ada@example.com' }
    const session = await enterToken(graph.accessToken(person), 'Facebook')
    expect(session.oAuthInfo).toEqual({
      provider: 'Facebook',
      socialUserUUID: '77',
      socialUserInfo: { name: 'Ada L.', email: 'ada@example.com' },
    })
    const again = await enterToken(graph.accessToken(person), 'Facebook')
    expect(await userOf(again.userToken)).toBe(await userOf(session.userToken))
    expect(await enterToken(graph.accessToken({ ...person, appId: '666' }), 'Facebook')).toEqual([
      400, 155140,
    ])
    expect(await enterToken(graph.accessToken({ ...person, expired: true }), 'Facebook')).toEqual([
      400, 155139,
    ])
    expect(await enterToken('x&access_token=y', 'Facebook')).toEqual([400, 155140])
  })
})

describe('property 99: an identity is one user, and a provider that is away delays nobody else', () => {
  it('makes one user in twenty first logins at once', async () => {
    const before = await usersTotal()
    const sent = await Promise.all(Array.from({ length: 20 }, () => sentIdentity(world, { sub: 'twenty' })))
    const sessions = await Promise.all(sent.map((each) => enter(each)))
    const users = await Promise.all(sessions.map(({ userToken }) => userOf(userToken)))
    expect(new Set(users).size).toBe(1)
    expect(await usersTotal()).toBe(before + 1)
  })

  it('refuses logins by a provider that is away, and accepts the same tokens when it is back', async () => {
    const mail = await openProviderFor(harness)
    const tenant = worldOf(harness, await harness.newEntity())
    useProvider(tenant, mail.issuer, 'Google')
    const token = await mail.idToken({ sub: 'ada', aud: clientIdOf(tenant) })
    const sent: SentIdentity = { ...(await newDevice(tenant)), provider: 'Google', token }
    const before = alarmCounts().get('login-provider-away')!
    mail.behave((_, response) => void response.writeHead(500).end())
    expect(await enter(sent)).toEqual([503, 503])
    expect(alarmCounts().get('login-provider-away')).toBe(before + 1)
    mail.behave((_, response) => send(response, { fill: 'x'.repeat(70_000) }))
    expect(await enter(sent)).toEqual([503, 503])
    mail.behave()
    for (const members of [
      { issuer: google.issuer },
      { jwks_uri: undefined },
      { jwks_uri: `${google.issuer}/keys` },
      { jwks_uri: `${mail.issuer}/.well-known/openid-configuration` },
    ]) {
      mail.describe(members)
      expect(await enter(sent)).toEqual([503, 503])
    }
    mail.describe({})
    expect(await enter(sent)).toHaveProperty('userToken')
  })

  it('logs others in while a provider is silent, and asks it once for all who wait', async () => {
    harness.clock.moveMs(700_000)
    const answers: (() => void)[] = []
    google.behave((_, __, well) => void answers.push(well))
    const [one, two, other] = [await sentIdentity(world), await sentIdentity(world), await newDevice(world)]
    const waiting = [enter(one), enter(two)]
    await until(() => answers.length > 0, 'the provider is asked')
    const token = await apple.idToken({ sub: 'ada', aud: clientIdOf(world) })
    expect(await enter({ ...other, provider: 'Apple', token })).toHaveProperty('userToken')
    expect((await logIn(world)).userToken).toEqual(expect.any(String))
    expect(answers).toHaveLength(1)
    google.behave()
    answers[0]!()
    for (const waited of waiting) expect(await waited).toHaveProperty('userToken')
    harness.clock.moveMs(-700_000)
  })
})
