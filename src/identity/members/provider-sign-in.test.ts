/** The sign-in of members with a provider of OpenID Connect, step by step as a browser makes it. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { addMember, grantRole, hashPassword } from '#identity/members/index'
import { newId } from '#lib/ids'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { appSecret, type OpenIdProvider, openOpenIdProvider } from '#testing/servers/openid-provider'

let provider: OpenIdProvider
let harness: Harness

beforeAll(async () => {
  provider = await openOpenIdProvider(Date.now)
  const signInProvider = { issuer: provider.issuer, clientId: 'bezant', clientSecret: appSecret }
  harness = await openHarness({ engines: false, config: { signInProvider } })
  await addPerson('ada@example.com')
})
afterAll(async () => {
  await harness?.close()
  await provider?.close()
})
beforeEach(() => {
  provider.behave()
  provider.signsIn({})
  provider.describe({})
})

async function addPerson(name: string, entityId?: string) {
  const password = await hashPassword(newId(Date.now()))
  await harness.database.tx(async (db) => {
    const scope = { db, clock: harness.ctx.clock, actor: 'test' }
    const member = await addMember(scope, { name, password })
    await grantRole(scope, member!, entityId ?? harness.entityId, 'operator')
  })
}

const get = (path: string, cookie = '') =>
  httpAs(harness.url, undefined)('GET', path, { headers: { cookie } })

/** The first step: where the browser is sent, and the cookie that it keeps. */
async function begin() {
  const left = await get('/console/sign-in')
  expect(left.status).toBe(302)
  const cookie = left.headers.get('set-cookie')!
  expect(cookie).toMatch(
    /^__Host-bezant-sign-in=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
  )
  return { to: left.headers.get('location')!, kept: cookie.split(';')[0]! }
}

/** The second step, at the provider: where it sends the browser back to. */
async function atProvider(to: string) {
  const answer = await fetch(to, { redirect: 'manual' })
  const back = new URL(answer.headers.get('location')!)
  expect(back.origin + back.pathname).toBe(`${harness.url}/console/signed-in`)
  return back.pathname + back.search
}

/** The last step: the session, or why there is none. */
async function comeBack(back: string, kept: string) {
  const { status, headers } = await get(back, kept)
  const [session] = /__Host-bezant=[\w-]{43}/.exec(headers.get('set-cookie') ?? '') ?? []
  expect([status, headers.get('set-cookie')]).toEqual([
    303,
    expect.stringContaining('__Host-bezant-sign-in=;'),
  ])
  return { location: headers.get('location'), session }
}

async function signIn() {
  const { to, kept } = await begin()
  return comeBack(await atProvider(to), kept)
}

/** A sign-in in which the provider names a person by other claims. */
const asPerson = (claims: Parameters<OpenIdProvider['signsIn']>[0]) => async () => {
  provider.signsIn(claims)
  return signIn()
}

it('begins a session of the member whose verified address the provider names', async () => {
  expect((await get('/operator/session/ways')).body.data).toEqual({ provider: new URL(provider.issuer).host })
  const { location, session } = await signIn()
  expect(location).toBe('/console')
  const shown = (await get('/operator/session', session)).body.data
  expect(shown).toMatchObject({ member: { name: 'ada@example.com', role: 'operator' }, hasCode: false })
  provider.signsIn({ amr: ['pwd', 'otp'] })
  const strong = await signIn()
  expect((await get('/operator/session', strong.session)).body.data.hasCode).toBe(true)
})

it('asks for nothing but the address, with a challenge of this sign-in', async () => {
  const [first, second] = [await begin(), await begin()]
  const asked = Object.fromEntries(new URL(first.to).searchParams)
  expect(asked).toMatchObject({
    response_type: 'code',
    client_id: 'bezant',
    scope: 'openid email',
    code_challenge_method: 'S256',
  })
  for (const name of ['state', 'nonce', 'code_challenge'])
    expect(asked[name]).not.toBe(new URL(second.to).searchParams.get(name))
  expect(Object.values(asked)).not.toContain(first.kept.split('=')[1])
})

it('refuses what does not prove who signs in', async () => {
  const wrong: Record<
    string,
    [refused: string, () => Promise<{ location: string | null; session?: string | undefined }>]
  > = {
    'a code that another browser got': [
      'unproven',
      async () => comeBack(await atProvider((await begin()).to), (await begin()).kept),
    ],
    'no cookie': ['unproven', async () => comeBack(await atProvider((await begin()).to), '')],
    'a code used before': [
      'unproven',
      async () => {
        const { to, kept } = await begin()
        const back = await atProvider(to)
        await comeBack(back, kept)
        return comeBack(back, kept)
      },
    ],
    'a token of another sign-in': ['unproven', asPerson({ nonce: 'another' })],
    'a token for another app': ['unproven', asPerson({ aud: 'another' })],
    'a token of another issuer': ['unproven', asPerson({ iss: 'https://id.example' })],
    'an address that is not verified': ['unknown', asPerson({ email_verified: false })],
    'an address of no member': ['unknown', asPerson({ email: 'eve@example.com' })],
    'an error of the provider': [
      'unproven',
      async () => comeBack('/console/signed-in?error=access_denied', (await begin()).kept),
    ],
    'a provider that names no addresses': [
      'away',
      async () => {
        const { to, kept } = await begin()
        const back = await atProvider(to)
        provider.describe({ token_endpoint: undefined })
        return comeBack(back, kept)
      },
    ],
  }
  for (const [what, [refused, attempt]] of Object.entries(wrong)) {
    provider.signsIn({})
    provider.describe({})
    const { location, session } = await attempt()
    expect([what, location, session]).toEqual([what, `/console?refused=${refused}`, undefined])
  }
  provider.describe({ authorization_endpoint: 'nowhere' })
  const left = await get('/console/sign-in')
  expect([left.status, left.headers.get('location')]).toEqual([303, '/console?refused=away'])
})
