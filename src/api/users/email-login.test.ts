import { randomUUID } from 'node:crypto'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '#context'
import type { Config } from '#runtime/config'
import { sql } from '#runtime/db/db'
import { freshEmail, logIn, mailedCode, type SentLogin, sentCode } from '#testing/builders/users'
import { type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs, type Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import { openSmtpServer } from '#testing/servers/smtp-server'

let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  world = worldOf(harness)
})
afterAll(() => harness?.close())

/** A page sends no API key. */
const enter = async ({ deviceId: _, ...entered }: SentLogin, changes: object = {}) => {
  const answer = await httpAs(harness.url, undefined)('POST', '/page/email/login', {
    body: { ...entered, ...changes },
  })
  return answer.status === 200 ? answer.body.data : [answer.status, answer.body.code]
}
const begin = async (email: string, changes: object = {}, { http }: Pick<Tenant, 'http'> = harness) => {
  const body = { idempotencyKey: randomUUID(), deviceId: randomUUID(), email, ...changes }
  const answer = await http('POST', '/v1/w3s/users/email/token', { body })
  return answer.status === 200 ? answer.body.data : [answer.status, answer.body.code]
}
const wrongFor = ({ otp }: SentLogin) => String((Number(otp) + 1) % 1_000_000).padStart(6, '0')
const userOf = async (userToken: string) => {
  const { status, body } = await harness.http('GET', '/v1/w3s/user', {
    headers: { 'X-User-Token': userToken },
  })
  return status === 200 ? body.data.id : [status, body.code]
}
const renew = async (
  session: { deviceId: string; userToken: string; refreshToken: string },
  changes: object = {},
  { http }: Pick<Tenant, 'http'> = harness,
) => {
  const { userToken, refreshToken, deviceId } = session
  const body = { idempotencyKey: randomUUID(), refreshToken, deviceId, ...changes }
  const headers = { 'X-User-Token': userToken }
  const answer = await http('POST', '/v1/w3s/users/token/refresh', { body, headers })
  return answer.status === 200 ? { deviceId, ...answer.body.data } : [answer.status, answer.body.code]
}

describe('a login by e-mail', () => {
  it('is begun and renewed by the published client, and makes one user for an address', async () => {
    const client = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
    const [email, deviceId] = ['Ada.L@Example.com', randomUUID()]
    const begun = (await client.createDeviceTokenForEmailLogin({ deviceId, email })).data!
    const first = await mailedCode(world, email)
    const again = (
      await client.resendOTP({ userToken: begun.deviceToken!, otpToken: begun.otpToken!, email, deviceId })
    ).data!
    const entered = { deviceId, ...begun, otp: first } as SentLogin
    expect(await enter(entered)).toEqual([400, 155131])
    const otp = await mailedCode(world, email)
    const session = await enter({ ...entered, otpToken: again.otpToken!, otp })
    const { data } = await client.refreshUserToken({ ...session, deviceId })
    expect(data).toMatchObject({ userID: await userOf(session.userToken), encryptionKey: expect.any(String) })
    const { iat, exp } = JSON.parse(Buffer.from(data!.userToken!.split('.')[1]!, 'base64url').toString())
    expect(exp - iat).toBe(14 * 86_400)
    expect(await userOf((await logIn(world, email.toUpperCase())).userToken)).toBe(data!.userID)
    expect(await userOf((await logIn(world)).userToken)).not.toBe(data!.userID)
  })

  it.each([
    'nobody',
    'a b@example.com',
    'a@b',
    'a@example.com\nBcc: b@example.com',
    'a@example.com,b@example.com',
    '<a@example.com>',
  ])('refuses the address %j', async (email) => expect(await begin(email)).toEqual([400, 155135]))

  it('needs the newest token of the device, its key, and the token of its own code', async () => {
    const [sent, other] = [await sentCode(world), await sentCode(world)]
    const { deviceToken, deviceEncryptionKey, otpToken } = other
    expect(await enter(sent, { deviceEncryptionKey })).toEqual([400, 155144])
    expect(await enter(sent, { deviceToken: 'x' })).toEqual([400, 155144])
    expect(await enter(sent, { deviceToken: otpToken })).toEqual([400, 155144])
    expect(await enter(sent, { otpToken: deviceToken })).toEqual([400, 155131])
    expect(await enter(sent, { otpToken })).toEqual([400, 155131])
    expect(await enter(sent, { otp: '12345' })).toEqual([400, 155133])
    const foreign = await sentCode(worldOf(harness, await harness.newEntity()))
    expect(await enter(sent, { otpToken: foreign.otpToken })).toEqual([400, 155131])
    await sentCode(world, freshEmail(), sent.deviceId)
    expect(await enter(sent)).toEqual([404, 155145])
    harness.clock.moveMs(600_000)
    expect(await enter(other)).toEqual([400, 155143])
    const { deviceToken: fresh, deviceEncryptionKey: key } = await begin(freshEmail(), {
      deviceId: other.deviceId,
    })
    expect(await enter(other, { deviceToken: fresh, deviceEncryptionKey: key })).toEqual([400, 155130])
    harness.clock.moveMs(-600_000)
  })

  /** Another server on the same database. */
  const serving = async (config: Partial<Config>) => {
    const { ctx } = harness
    const api = await startApi({ ...ctx, config: { ...ctx.config, port: 0, ...config } })
    harness.atClose(api.stop)
    return { http: httpAs(api.url, harness.apiKey) }
  }

  it('is mailed by the SMTP server of the installation', async () => {
    const smtp = await openSmtpServer()
    harness.atClose(smtp.close)
    const [email, mailFrom] = [freshEmail(), 'Codes <codes@example.com>']
    const server = await serving({ smtpUrl: smtp.url, mailFrom })
    const deviceId = randomUUID()
    const begun = await begin(email, { deviceId }, server)
    await until(() => smtp.mails.length > 0, 'the code is mailed')
    const [{ from, to, text }] = smtp.mails as [(typeof smtp.mails)[number]]
    expect([from, to]).toEqual(['codes@example.com', [email]])
    expect(text).toContain('From: Codes <codes@example.com>')
    const otp = /^Your code is (\d{6})\./m.exec(text)![1]!
    expect(await enter({ deviceId, ...begun, otp })).toHaveProperty('userToken')
  })

  it('is refused by a server without SMTP, and counts nothing', async () => {
    const [email, server] = [freshEmail(), await serving({})]
    for (const _ of Array.from({ length: 6 })) expect(await begin(email, {}, server)).toEqual([404, 155150])
    expect(await begin(email)).toHaveProperty('otpToken')
  })

  it('keeps no code, and no token that could be used', async () => {
    const sent = await sentCode(world)
    const { refreshToken } = await enter(sent)
    const tables = [
      'login_codes',
      'device_tokens',
      'refresh_tokens',
      'user_tokens',
      'sealed_answers',
      'user_sessions',
    ]
    for (const table of tables) {
      const rows = await harness.database.all<{ text: string }>({
        text: [`select t::text as text from ${table} t`],
        values: [],
      })
      for (const { text } of rows)
        for (const secret of [refreshToken, sent.deviceToken, sent.otpToken])
          expect(text).not.toContain(secret)
    }
  })
})

describe('property 87: codes are guessed within their limits, and a used refresh token ends its session', () => {
  it('ends a code after three entries, also when all come at once', async () => {
    const sent = await sentCode(world)
    const otp = wrongFor(sent)
    const answers = await Promise.all(Array.from({ length: 12 }, () => enter(sent, { otp })))
    const codes = answers.map(([, code]) => code).sort()
    expect(codes.filter((code) => code === 155134)).toHaveLength(2)
    expect(codes.filter((code) => code === 155146)).toHaveLength(10)
    expect(await enter(sent)).toEqual([400, 155146])
  })

  it('accepts a right code once', async () => {
    const sent = await sentCode(world)
    const answers = await Promise.all([1, 2, 3].map(() => enter(sent)))
    expect(answers.filter((answer) => !Array.isArray(answer))).toHaveLength(1)
    expect(await enter(sent)).toEqual([400, 155131])
  })

  it('makes an address wait for an hour after five wrong entries, whatever the codes', async () => {
    const email = freshEmail()
    const first = await sentCode(world, email)
    for (const _ of [1, 2]) expect(await enter(first, { otp: wrongFor(first) })).toEqual([400, 155134])
    const second = await sentCode(world, email)
    for (const _ of [1, 2]) expect(await enter(second, { otp: wrongFor(second) })).toEqual([400, 155134])
    const third = await sentCode(world, email)
    expect(await enter(third, { otp: wrongFor(third) })).toEqual([400, 155134])
    expect(await enter(third)).toEqual([400, 155141])
    harness.clock.moveMs(3_600_001)
    expect(await userOf((await enter(await sentCode(world, email))).userToken)).toEqual(expect.any(String))
    harness.clock.moveMs(-3_600_001)
  })

  it('mails five codes to an address within an hour, also when they are asked for at once', async () => {
    const email = freshEmail()
    const answers = await Promise.all(Array.from({ length: 8 }, () => begin(email)))
    expect(answers.filter((answer) => !Array.isArray(answer))).toHaveLength(5)
    expect(answers.filter(Array.isArray)).toEqual(Array(3).fill([400, 155142]))
    expect(await begin(email.toUpperCase())).toEqual([400, 155142])
    harness.clock.moveMs(3_600_001)
    expect(await begin(email)).toHaveProperty('otpToken')
    harness.clock.moveMs(-3_600_001)
  })

  it('renews a session once for each refresh token, and ends it when one comes again', async () => {
    const first = await logIn(world)
    const other = await logIn(world)
    expect(await renew(first, { deviceId: randomUUID() })).toEqual([400, 155113])
    expect(await renew(first, { refreshToken: other.refreshToken })).toEqual([403, 155105])
    expect(await renew(first, { refreshToken: 'x' })).toEqual([403, 155105])
    const second = await renew(first)
    const third = await renew(second)
    expect([await userOf(first.userToken), await userOf(third.userToken)]).toEqual(
      Array(2).fill(second.userID),
    )
    expect(await renew(second)).toEqual([403, 155105])
    for (const { userToken } of [first, second, third]) expect(await userOf(userToken)).toEqual([403, 155105])
    expect(await renew(third)).toEqual([403, 155105])
    expect(await userOf(other.userToken)).toEqual(expect.any(String))
  })

  it('ends the session when one refresh token comes many times at once, in two processes', async () => {
    const session = await logIn(world)
    const worker = await spawnWorker()
    harness.atClose(async () => worker.signal('SIGKILL'))
    const { rpcUrl, blockchain } = harness.chain()
    await worker.open({ connection: harness.connection, rpcUrl, blockchain, roles: ['api'] })
    const servers = [harness, { http: httpAs((await worker.start())!, harness.apiKey) }]
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => renew(session, {}, servers[index % 2])),
    )
    const codes = answers.filter(Array.isArray).map(([, code]) => code)
    expect(codes).toEqual(Array(codes.length).fill(155105))
    const renewed = answers.filter((answer) => !Array.isArray(answer))
    expect(renewed.length).toBeLessThanOrEqual(1)
    expect(await userOf(session.userToken)).toEqual([403, 155105])
    for (const { userToken } of renewed) expect(await userOf(userToken)).toEqual([403, 155105])
    const [row] = await harness.database.all<{ count: number }>(
      sql`select count(*) as count from user_sessions where ended_date is not null`,
    )
    expect(row!.count).toBe(2)
  })
})
