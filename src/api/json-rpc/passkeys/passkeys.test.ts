import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '#context'
import { sql } from '#runtime/db/db'
import { type Falsified, softwareAuthenticator } from '#testing/pages/software-authenticator'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs, type Tenant } from '#testing/platform/tenant'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

const path = '/v1/rpc/w3s/buidl'

const ask = async (method: string, params: unknown[], tenant: Pick<Tenant, 'http'> = harness) => {
  const { status, body } = await tenant.http('POST', path, {
    body: { jsonrpc: '2.0', id: 1, method, params },
  })
  expect([status, body.id]).toEqual([200, 1])
  return body
}
const answered = async (method: string, params: unknown[], tenant?: Tenant) => {
  const { result, error } = await ask(method, params, tenant)
  expect(error).toBeUndefined()
  return result
}
const refused = async (method: string, params: unknown[], tenant?: Tenant) => {
  const { error } = await ask(method, params, tenant)
  expect(error?.code).toBe(-32602)
  return error.message as string
}
const registrationOptions = (tenant?: Tenant) => answered('rp_getRegistrationOptions', ['alice'], tenant)
const loginOptions = (tenant?: Tenant) => answered('rp_getLoginOptions', [''], tenant)
const verifyRegistration = 'rp_getRegistrationVerification'
const verifyLogin = 'rp_getLoginVerification'

async function registered(tenant?: Tenant) {
  const authenticator = softwareAuthenticator()
  const credential = authenticator.register(await registrationOptions(tenant))
  expect(await answered(verifyRegistration, [credential], tenant)).toEqual({ verified: true })
  return authenticator
}

const countPasskeys = async () =>
  (await harness.database.one<{ count: number }>(sql`select count(*)::integer as count from passkeys`)).count

describe('registration', () => {
  it('asks for a discoverable passkey of ES256 that verifies its user', async () => {
    const { challenge, user, ...options } = await registrationOptions()
    expect(Buffer.from(challenge, 'base64url')).toHaveLength(32)
    expect(Buffer.from(user.id, 'base64url')).toHaveLength(32)
    expect(user).toMatchObject({ name: 'alice', displayName: 'alice' })
    expect(options).toEqual({
      rp: { name: 'Sandbox' },
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      timeout: 300_000,
      attestation: 'none',
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
    })
  })

  it('is of a new user each time: a username may occur again', async () => {
    const [one, other] = [await registrationOptions(), await registrationOptions()]
    expect(one.user.id).not.toBe(other.user.id)
    expect(one.challenge).not.toBe(other.challenge)
  })

  it.each<[string, Falsified, RegExp]>([
    ['another type', { type: 'webauthn.get' }, /clientDataJSON has the type "webauthn.get"/],
    ['a made-up challenge', { challenge: 'A'.repeat(43) }, /challenge that is unknown, used or expired/],
    ['no challenge', { challenge: '' }, /challenge that is unknown, used or expired/],
    [
      'another origin',
      { origin: 'https://evil.example' },
      /origin "https:\/\/evil.example", which is not in/,
    ],
    ['a look-alike origin', { origin: 'http://localhost.evil.example' }, /which is not in/],
    ['an origin with a path', { origin: 'http://localhost:3000/x' }, /which is not in/],
    ['another relying party', { rpId: 'evil.example' }, /not a valid registration: .*RP ID/],
    ['a frame in another page', { client: { crossOrigin: true } }, /frame in a page of another origin/],
    ['no user present', { flags: 4 }, /not a valid registration: User presence/],
    ['no user verified', { flags: 1 }, /not a valid registration: User verification/],
    ['certificates', { attestation: 'certificates' }, /attestation, and none was asked for/],
    ['a point off the curve', { point: Buffer.alloc(64, 1) }, /public key that is no point of P-256/],
  ])('property 78: refuses %s, and stores nothing', async (_, falsified, words) => {
    const before = await countPasskeys()
    const credential = softwareAuthenticator().register(await registrationOptions(), falsified)
    expect(await refused(verifyRegistration, [credential])).toMatch(words)
    expect(await countPasskeys()).toBe(before)
  })

  it('property 78: takes each answer once, also of many that come at once', async () => {
    const credential = softwareAuthenticator().register(await registrationOptions())
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(verifyRegistration, [credential])))
    expect(answers.filter(({ result }) => result?.verified)).toHaveLength(1)
  })

  it('refuses an answer that was refused before, and one whose credential is registered already', async () => {
    const options = await registrationOptions()
    const authenticator = softwareAuthenticator()
    await refused(verifyRegistration, [authenticator.register(options, { flags: 1 })])
    expect(await refused(verifyRegistration, [authenticator.register(options)])).toMatch(/unknown, used or/)
    const own = await registered()
    const again = own.register(await registrationOptions())
    expect(await refused(verifyRegistration, [again])).toMatch(/registered already/)
  })

  it('names the parameter that is malformed', async () => {
    const { response, ...credential } = softwareAuthenticator().register(await registrationOptions())
    const wrong: [unknown[], RegExp][] = [
      [[], /params must have at least 1 item/],
      [['x'], /params\[0\] must be of type object/],
      [[credential], /params\[0\]\.response is missing/],
      [[{ ...credential, response: { ...response, clientDataJSON: '%' } }], /clientDataJSON must match/],
      [[{ ...credential, response: { ...response, clientDataJSON: 'AAAA' } }], /form of a JSON object/],
      [[{ ...credential, response: { ...response, clientDataJSON: 'A'.repeat(9_000) } }], /1 to 8192 char/],
      [[{ ...credential, id: 'A'.repeat(2_000), response }], /params\[0\]\.id must have 1 to 1364/],
      [[{ ...credential, type: 'password', response }], /params\[0\]\.type must be "public-key"/],
      [
        [{ ...credential, response: { ...response, attestationObject: 'AAAA' } }],
        /not an attestation in CBOR/,
      ],
    ]
    for (const [params, words] of wrong) expect(await refused(verifyRegistration, params)).toMatch(words)
    for (const name of ['', 'x'.repeat(65), 7, undefined])
      expect(await refused('rp_getRegistrationOptions', [name])).toMatch(/params\[0\]|params must/)
  })
})

describe('login', () => {
  it('answers with the public key of the passkey', async () => {
    const authenticator = await registered()
    expect(await answered('rp_getLoginOptions', [])).toMatchObject({
      timeout: 300_000,
      userVerification: 'required',
      allowCredentials: [],
    })
    const named = await answered('rp_getLoginOptions', [authenticator.id])
    expect(named.allowCredentials).toEqual([{ type: 'public-key', id: authenticator.id }])
    const { publicKey } = authenticator
    expect(await answered(verifyLogin, [authenticator.logIn(named)])).toEqual({ publicKey })
  })

  it.each<[string, Falsified, RegExp]>([
    ['another type', { type: 'webauthn.create' }, /clientDataJSON has the type "webauthn.create"/],
    ['a made-up challenge', { challenge: 'A'.repeat(43) }, /challenge that is unknown, used or expired/],
    ['another origin', { origin: 'https://evil.example' }, /which is not in BEZANT_PASSKEY_ORIGINS/],
    [
      'another host of this machine',
      { origin: 'http://127.0.0.1', rpId: '127.0.0.1' },
      /page of another host/,
    ],
    ['another relying party', { rpId: 'evil.example' }, /not a valid login: .*RP ID/],
    ['no user present', { flags: 4 }, /not a valid login: User not present/],
    ['no user verified', { flags: 1 }, /not a valid login: User verification/],
    ['a spoiled signature', { spoiled: true }, /signature is not one of the passkey|not a valid login/],
    ['the handle of another user', { userHandle: 'AAAA' }, /userHandle is not that of the passkey/],
  ])('property 78: refuses %s', async (_, falsified, words) => {
    const authenticator = await registered()
    const credential = authenticator.logIn(await loginOptions(), falsified)
    expect(await refused(verifyLogin, [credential])).toMatch(words)
  })

  it('property 78: refuses a counter that falls back or stands still', async () => {
    const authenticator = await registered()
    const logIn = async (counter: number) => [authenticator.logIn(await loginOptions(), { counter })]
    await answered(verifyLogin, await logIn(5))
    for (const counter of [5, 4, 0])
      expect(await refused(verifyLogin, await logIn(counter))).toMatch(/counter/)
    await answered(verifyLogin, await logIn(6))
    const equal = await Promise.all([logIn(7), logIn(7)])
    const answers = await Promise.all(equal.map((params) => ask(verifyLogin, params)))
    expect(answers.filter(({ result }) => result)).toHaveLength(1)
  })

  it('accepts authenticators that do not count', async () => {
    const authenticator = await registered()
    for (const _ of [1, 2])
      await answered(verifyLogin, [authenticator.logIn(await loginOptions(), { counter: 0 })])
  })

  it('property 78: takes each answer once, and none after its challenge expired', async () => {
    const authenticator = await registered()
    const credential = authenticator.logIn(await loginOptions(), { counter: 0 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(verifyLogin, [credential])))
    expect(answers.filter(({ result }) => result)).toHaveLength(1)
    const late = authenticator.logIn(await loginOptions(), { counter: 0 })
    harness.clock.moveMs(300_000)
    expect(await refused(verifyLogin, [late])).toMatch(/unknown, used or expired: call rp_getLoginOptions/)
  })

  it('property 78: takes neither the challenge nor the passkey of another entity', async () => {
    const other = await harness.newEntity()
    const authenticator = await registered()
    const ofOther = authenticator.logIn(await loginOptions(other))
    expect(await refused(verifyLogin, [ofOther])).toMatch(/challenge that is unknown/)
    const toOther = authenticator.logIn(await loginOptions(other))
    expect(await refused(verifyLogin, [toOther], other)).toMatch(/matches no passkey of this entity/)
    const unknown = softwareAuthenticator()
    const params = [unknown.logIn(await loginOptions(other))]
    expect(await refused(verifyLogin, params, other)).toMatch(/matches no passkey of this entity/)
    const registration = unknown.register(await registrationOptions(other))
    expect(await refused(verifyRegistration, [registration])).toMatch(/challenge that is unknown/)
  })

  it('does not take a challenge of a registration, and the other way round', async () => {
    const authenticator = await registered()
    expect(await refused(verifyLogin, [authenticator.logIn(await registrationOptions())])).toMatch(
      /challenge/,
    )
    const login = { ...(await loginOptions()), user: { id: 'AAAA' } }
    expect(await refused(verifyRegistration, [softwareAuthenticator().register(login)])).toMatch(/challenge/)
  })
})

describe('the pages that may use passkeys', () => {
  const onOrigins = async <Result>(
    passkeyOrigins: string[],
    work: (tenant: Pick<Tenant, 'http'>) => Promise<Result>,
  ) => {
    const config = { ...harness.ctx.config, publicUrl: undefined, passkeyOrigins }
    const api = await startApi({ ...harness.ctx, config })
    try {
      return await work({ http: httpAs(api.url, harness.clientKey) })
    } finally {
      await api.stop()
    }
  }

  it('are those that the operator names', async () => {
    await onOrigins(['https://shop.example'], async (tenant) => {
      const answer = async (page: string) => {
        const { result } = await ask('rp_getRegistrationOptions', ['alice'], tenant)
        return ask(verifyRegistration, [softwareAuthenticator(page).register(result)], tenant)
      }
      expect((await answer('https://shop.example')).result).toEqual({ verified: true })
      for (const page of ['http://localhost:3000', 'http://shop.example', 'https://shop.example:8443'])
        expect((await answer(page)).error.message).toMatch(/which is not in BEZANT_PASSKEY_ORIGINS/)
    })
  })

  it('property 78: each with the passkeys that its own host registered', async () => {
    await onOrigins(['https://shop.example', 'https://app.example'], async (tenant) => {
      const authenticator = softwareAuthenticator('https://shop.example')
      const { result } = await ask('rp_getRegistrationOptions', ['alice'], tenant)
      expect((await ask(verifyRegistration, [authenticator.register(result)], tenant)).error).toBeUndefined()
      const other = { origin: 'https://app.example', rpId: 'app.example' }
      const options = (await ask('rp_getLoginOptions', [], tenant)).result
      const { error } = await ask(verifyLogin, [authenticator.logIn(options, other)], tenant)
      expect(error.message).toMatch(/of a page of another host/)
    })
  })

  it('are none until then, which is told before a user is asked', async () => {
    await onOrigins([], async (tenant) => {
      for (const method of ['rp_getRegistrationOptions', 'rp_getLoginOptions']) {
        const { error } = await ask(method, ['alice'], tenant)
        expect([method, error.code, error.message]).toEqual([
          method,
          -32004,
          expect.stringContaining('BEZANT_PASSKEY_ORIGINS'),
        ])
      }
    })
  })
})

it('removes expired challenges as new ones are given out', async () => {
  const tenant = await harness.newEntity()
  const count = async () =>
    (
      await harness.database.one<{ count: number }>(
        sql`select count(*)::integer as count from passkey_challenges where entity_id = ${tenant.entityId}`,
      )
    ).count
  for (const _ of Array(5)) await loginOptions(tenant)
  expect(await count()).toBe(5)
  harness.clock.moveMs(300_000)
  await loginOptions(tenant)
  expect(await count()).toBe(1)
})
