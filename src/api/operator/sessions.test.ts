/** Members of the console: sign-in, sessions, roles, one-time codes and four eyes, by HTTP as a browser sends it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMember, makeCodeKey, revokeRole, setMemberDisabled, setPassword } from '#identity/members/index'
import { codeAt, stepOfCode } from '#identity/members/one-time-code'
import { hashPassword } from '#identity/members/password'
import { sql } from '#runtime/db/db'
import { codeOf, cookieIn, makeMember, signInAs } from '#testing/builders/members'
import { type World, worldOf } from '#testing/builders/world'
import { movedDate } from '#testing/databases/moved-date'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { makeReview } from '#testing/requests/review-requests'

let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness({ config: { reviewApprovers: 2 } })
  world = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

const path = '/operator/session'
const plain = (...[method, at, options]: Parameters<ReturnType<typeof httpAs>>) =>
  httpAs(harness.url, undefined)(method, at, options)
const signIn = (body: object) => plain('POST', path, { body })
const inTx = <Result>(
  work: (
    scope: Parameters<typeof makeCodeKey>[0],
    member: NonNullable<Awaited<ReturnType<typeof findMember>>>,
  ) => Promise<Result>,
  name: string,
) =>
  harness.database.tx(async (db) =>
    work(
      { db, clock: harness.ctx.clock, custody: harness.ctx.custody, actor: 'test' },
      (await findMember(db, name))!,
    ),
  )

describe('property 196: a sign-in', () => {
  it('begins a session in a cookie that no script reads and no other site sends', async () => {
    const member = await makeMember(world)
    const answer = await signIn({ ...member, name: member.name.toUpperCase() })
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
    const cookie = answer.headers.get('set-cookie')!
    expect(cookie).toMatch(/^__Host-bezant=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/)
    const { data } = answer.body
    expect(data).toMatchObject({
      member: { name: member.name, role: 'operator' },
      entity: { id: world.tenant.entityId, environment: 'TEST' },
      entities: [{ id: world.tenant.entityId, role: 'operator' }],
      hasCode: false,
    })
    expect(answer.text).not.toContain(/=([\w-]{43})/.exec(cookie)![1]!)
    const shown = await plain('GET', path, { headers: { cookie: cookieIn(cookie) } })
    expect([shown.status, shown.body.data]).toEqual([200, data])
    const rows = await harness.database.all<{ text: string }>(
      sql`select row_to_json(s)::text as text from member_sessions s`,
    )
    expect(rows.map(({ text }) => text).join()).not.toContain(/=([\w-]{43})/.exec(cookie)![1]!)
  })

  it('answers a wrong name and a wrong password alike', async () => {
    const { name } = await makeMember(world)
    const password = 'something else entirely'
    const [known, unknown] = [
      await signIn({ name, password }),
      await signIn({ name: `${name}-other`, password }),
    ]
    expect([known.status, known.body.code]).toEqual([401, 281001])
    expect(unknown.text).toBe(known.text)
    expect(known.headers.get('set-cookie')).toBeNull()
  })

  it('compares five guesses and then waits, also when many come at once', async () => {
    const member = await makeMember(world)
    const guesses = await Promise.all(
      Array.from({ length: 12 }, (_, index) => signIn({ name: member.name, password: `guess ${index}` })),
    )
    expect(guesses.map(({ body }) => body.code).filter((code) => code === 281001)).toHaveLength(5)
    const paused = await signIn(member)
    expect([paused.status, paused.body.code]).toEqual([429, 281004])
    expect(paused.body.message).toContain('16 minutes')
    // The pause passes by the clock of the database, which this moves back in place of waiting.
    await harness.database.run(
      sql`update member_tries set update_date = ${movedDate('update_date', '-20 seconds')}`,
    )
    expect((await signIn(member)).status).toBe(201)
    expect((await signIn({ name: member.name, password: 'once more wrong' })).body.code).toBe(281001)
  })

  it('needs a role, and the entity where one is named', async () => {
    const member = await makeMember(world)
    const other = await harness.newEntity()
    const foreign = await signIn({ ...member, entityId: other.entityId })
    expect([foreign.status, foreign.body.code, foreign.body.errors[0].location]).toEqual([
      403,
      281005,
      'entityId',
    ])
    await inTx((scope, found) => revokeRole(scope, found, world.tenant.entityId), member.name)
    expect((await signIn(member)).body.code).toBe(281005)
  })
})

describe('property 197: the session of a member', () => {
  it('opens operations for pages of this server alone', async () => {
    const { headers, http } = await signInAs(world, await makeMember(world))
    const wallets = '/v1/w3s/wallets'
    expect((await http('GET', wallets)).status).toBe(200)
    for (const wrong of [
      { 'x-bezant-console': undefined },
      { 'x-bezant-console': 'guessed' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ])
      for (const [method, at] of [
        ['GET', wallets],
        ['POST', '/operator/apiKeys'],
        ['DELETE', path],
      ] as const) {
        const { status, body } = await plain(method, at, { headers: { ...headers, ...wrong } })
        expect([method, status, body.code]).toEqual([method, 403, 3])
      }
    expect((await plain('GET', wallets, { headers: { ...headers, origin: harness.url } })).status).toBe(200)
    const preflight = await plain('OPTIONS', wallets, {
      headers: {
        origin: 'https://elsewhere.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-bezant-console',
      },
    })
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).not.toContain('console')
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('lets a viewer read, a developer use the API, and an operator control', async () => {
    const body = { scopes: ['api'] }
    const expected = {
      viewer: { read: 200, use: 403, control: 403 },
      developer: { read: 200, use: 400, control: 403 },
      operator: { read: 200, use: 400, control: 201 },
    } as const
    for (const [role, wanted] of Object.entries(expected)) {
      const { http } = await signInAs(world, await makeMember(world, role as keyof typeof expected))
      const answers = {
        read: (await http('GET', '/operator/movements')).status,
        use: (await http('POST', '/v1/w3s/developer/walletSets', { body: {} })).status,
        control: (await http('POST', '/operator/apiKeys', { body })).status,
      }
      expect([role, answers]).toEqual([role, wanted])
    }
  })

  it('acts under the name of the member in the audit trail', async () => {
    const { http, session } = await signInAs(world, await makeMember(world))
    const { body } = await http('POST', '/operator/apiKeys', { body: { scopes: ['operator:write'] } })
    const { body: events } = await http('GET', `/operator/events?resourceId=${body.data.id}`)
    expect(events.data[0]).toMatchObject({
      type: 'apiKey.created',
      actor: `member:${session.member.id}`,
    })
    const revoked = await http('DELETE', `/operator/apiKeys/${body.data.id}`)
    expect(revoked.status).toBe(204)
  })

  it('needs a one-time code for changes of a LIVE entity, and takes each code once', async () => {
    const live = { ...world, tenant: await harness.newEntity('LIVE') }
    const member = await makeMember(live)
    const without = await signInAs(live, member)
    const body = { scopes: ['api'] }
    const refused = await without.http('POST', '/operator/apiKeys', { body })
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining(`bezant members enrol ${member.name}`),
    ])
    const uri = await inTx(makeCodeKey, member.name)
    expect((await without.http('GET', path)).status).toBe(401)
    const secret = new URL(uri).searchParams.get('secret')!
    expect((await signIn(member)).body.code).toBe(281002)
    expect((await signIn({ ...member, code: '000000' })).body.code).toBe(281003)
    const code = codeOf(secret)
    const { http, session } = await signInAs(live, { ...member, code })
    expect(session.hasCode).toBe(true)
    expect((await http('POST', '/operator/apiKeys', { body })).status).toBe(201)
    expect((await signIn({ ...member, code })).body.code).toBe(281003)
  })

  it('makes one-time codes in the browser, which count once the first of them confirms them', async () => {
    const member = await makeMember(world, 'viewer')
    const { password } = member
    const { http } = await signInAs(world, member)
    const codes = `${path}/codes`
    const first = await http('POST', codes, { body: { password } })
    expect(first.status).toBe(200)
    const { secret, uri, pending } = first.body.data
    expect(new URL(uri).searchParams.get('secret')).toBe(secret)
    expect((await signIn(member)).status).toBe(201)
    const wrong = await http('PUT', codes, { body: { pending, code: codeOf(secret, 20) } })
    expect([wrong.status, wrong.body.code, wrong.body.errors[0].location]).toEqual([401, 281003, 'code'])
    const used = codeOf(secret)
    const ended = await http('PUT', codes, { body: { pending, code: used } })
    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringContaining('Max-Age=0'),
    ])
    expect((await http('GET', path)).status).toBe(401)
    expect((await signIn(member)).body.code).toBe(281002)
    // The code that confirmed is used up; the server accepts that of the period after.
    expect((await signIn({ ...member, code: used })).body.code).toBe(281003)
    expect((await signIn({ ...member, code: codeOf(secret, 1) })).status).toBe(201)
  })

  it('lets no stolen session replace the codes of a member', async () => {
    const member = await makeMember(world)
    const { password } = member
    const secret = new URL(await inTx(makeCodeKey, member.name)).searchParams.get('secret')!
    // The next period may begin at any time: a later call would name another code.
    const used = codeOf(secret)
    const victim = await signInAs(world, { ...member, code: used })
    const codes = `${path}/codes`
    const begin = (body: object) => victim.http('POST', codes, { body })
    expect((await begin({})).body.errors[0].location).toBe('password')
    for (const guess of ['something else entirely', 'something else again'])
      expect((await begin({ password: guess })).body.code).toBe(281001)
    expect((await begin({ password })).body.code).toBe(281002)
    expect((await begin({ password, code: used })).body.code).toBe(281003)
    expect((await begin({ password, code: codeOf(secret, 20) })).body.code).toBe(281003)

    // A secret that another session made, of this member or another one, is not confirmed in this one.
    const other = await makeMember(world)
    const thief = await signInAs(world, other)
    const { data } = (await thief.http('POST', codes, { body: { password: other.password } })).body
    for (const pending of [data.pending, 'AAAA', data.pending.slice(0, -4)]) {
      const refused = await victim.http('PUT', codes, { body: { pending, code: codeOf(data.secret) } })
      expect([refused.status, refused.body.errors[0].location]).toEqual([400, 'pending'])
    }
    // A session that chooses its entity anew is another one, and begins no new count of guesses.
    const chosen = await victim.http('PUT', path, { body: { entityId: world.tenant.entityId } })
    const headers = {
      cookie: cookieIn(chosen.headers.get('set-cookie')!),
      'x-bezant-console': chosen.body.data.csrfToken,
    }
    const paused = await victim.http('POST', codes, { body: { password, code: codeOf(secret) }, headers })
    expect([paused.status, paused.body.code]).toEqual([429, 281004])
    // The owner is not locked out elsewhere by these guesses.
    expect((await signIn({ ...member, code: codeOf(secret, 1) })).status).toBe(201)
  })

  it('ends by signing out, by its dates, and when the member is disabled or gets another password', async () => {
    const member = await makeMember(world)
    const ways: Record<string, (http: Awaited<ReturnType<typeof signInAs>>['http']) => Promise<unknown>> = {
      'signing out': async (http) => {
        const { status, headers } = await http('DELETE', path)
        expect([status, headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')])
      },
      'no request for 12 hours': () =>
        harness.database.run(
          sql`update member_sessions set used_date = now() - interval '12 hours 1 second'`,
        ),
      'seven days': () =>
        harness.database.run(
          sql`update member_sessions set create_date = now() - interval '7 days 1 second'`,
        ),
      'another password': async () => {
        const password = await hashPassword(member.password)
        await inTx((scope, found) => setPassword(scope, found, password), member.name)
      },
      'a disabled member': () => inTx((scope, found) => setMemberDisabled(scope, found, true), member.name),
    }
    for (const [way, end] of Object.entries(ways)) {
      const { http } = await signInAs(world, member)
      await end(http)
      const { status, body } = await http('GET', '/operator/movements')
      expect([way, status, body.code]).toEqual([way, 401, 401])
    }
    expect((await signIn(member)).body.code).toBe(281001)
  })

  it('changes its entity by beginning anew', async () => {
    const member = await makeMember(world)
    const { http, headers, session } = await signInAs(world, member)
    const other = await harness.newEntity()
    const stranger = await http('PUT', path, { body: { entityId: other.entityId } })
    expect(stranger.status).toBe(403)
    expect((await http('GET', path)).status).toBe(200)
    const changed = await http('PUT', path, { body: { entityId: session.entity.id.toUpperCase() } })
    expect([changed.status, changed.body.data.entity]).toEqual([200, session.entity])
    expect((await plain('GET', path, { headers })).status).toBe(401)
  })

  it('counts for nothing beside an API key, and with a made-up cookie', async () => {
    const { headers } = await signInAs(world, await makeMember(world))
    const keyed = await plain('GET', '/operator/movements', {
      headers: { ...headers, authorization: 'Bearer TEST_API_KEY:x:y' },
    })
    expect(keyed.status).toBe(401)
    const cookie = `__Host-bezant=${'A'.repeat(43)}`
    expect((await plain('GET', path, { headers: { cookie } })).status).toBe(401)
    expect((await plain('GET', path, { headers: { cookie: '__Host-bezant=short' } })).status).toBe(401)
  })
})

it('property 198: a review with two approvers is decided by two members, not by one twice', async () => {
  const { id } = await makeReview(world)
  const [first, second] = [
    await signInAs(world, await makeMember(world)),
    await signInAs(world, await makeMember(world)),
  ]
  const body = { reason: 'the recipient is known' }
  const approve = (who: typeof first) => who.http('POST', `/operator/reviews/${id}/approve`, { body })
  expect((await approve(first)).body.data).toMatchObject({
    state: 'pending',
    firstApprover: `member:${first.session.member.id}`,
  })
  const again = await approve(first)
  expect([again.status, again.body.code]).toEqual([409, 280005])
  expect((await approve(second)).body.data).toMatchObject({
    state: 'approved',
    decidedBy: `member:${second.session.member.id}`,
  })
})

describe('a one-time code', () => {
  it('is that of RFC 6238, appendix B, in its last six digits', () => {
    const key = Buffer.from('12345678901234567890')
    const vectors = [
      [59, '287082'],
      [1111111109, '081804'],
      [1111111111, '050471'],
      [1234567890, '005924'],
      [2000000000, '279037'],
      [20000000000, '353130'],
    ] as const
    for (const [seconds, code] of vectors) {
      expect(codeAt(key, Math.floor(seconds / 30))).toBe(code)
      expect(stepOfCode(key, code, (seconds + 30) * 1_000)).toBe(Math.floor(seconds / 30))
      expect(stepOfCode(key, code, (seconds + 90) * 1_000)).toBeUndefined()
    }
  })
})
