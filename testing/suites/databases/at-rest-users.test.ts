/**
 * What users enter, and the tokens by which their pages act, in the database, the files and the log: none may be there as it is.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openAsOwner, raw, sql } from '#runtime/db/db'
import { freshEmail, sentCode } from '#testing/builders/users'
import { type World, worldOf } from '#testing/builders/world'
import { approve, approved, type PageSession, pin } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'

let harness: Harness
let world: World
const logged: string[] = []

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation((line) => void logged.push(String(line)))
  harness = await openHarness({ engines: false, config: { logLevel: 'debug' } })
  world = worldOf(harness)
})
afterAll(async () => {
  vi.restoreAllMocks()
  await harness?.close()
})

/** A value of six digits, which other numbers may contain: found where it stands alone. */
const digits = (value: string) => new RegExp(`(?<![\\w.-])${value}(?![\\w.-])`)
/** Bytes, as they are and as texts encode them. */
const bytes = (value: Buffer) =>
  new RegExp(
    [value.toString('latin1'), value.toString('hex'), value.toString('base64'), value.toString('base64url')]
      .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
      .join('|'),
    'i',
  )
const text = (value: string) => bytes(Buffer.from(value))

async function valuesOfTables(): Promise<string[]> {
  const owner = openAsOwner(harness.connection)
  try {
    const tables = await owner.all<{ name: string }>(
      sql`select tablename as name from pg_tables where schemaname = 'public'`,
    )
    const values: string[] = []
    for (const { name } of tables) {
      const rows = await owner.all<Record<string, unknown>>(sql`select * from ${raw(`"${name}"`)} limit 500`)
      for (const value of rows.flatMap((row) => Object.values(row)))
        values.push(
          Buffer.isBuffer(value)
            ? value.toString('latin1')
            : typeof value === 'object'
              ? JSON.stringify(value)
              : String(value),
        )
    }
    return values
  } finally {
    await owner.close()
  }
}

async function valuesOfFiles(): Promise<string[]> {
  const entries = await readdir(harness.ctx.config.dataDir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
}

it('property 39: the database, the files and the log have no secret and no token of a user', async () => {
  const user = await makePinUser(world)
  const asked = await askUser(world, user, 'sign/message', { walletId: user.wallet.id, message: 'hello' })
  const wrongPin = '907351'
  await approve(world, user, asked, [['P', wrongPin]])
  const { result } = await approved(world, user, asked)

  const [device, recovery, other] = [randomBytes(32), randomBytes(32), randomBytes(32)]
  const { deviceId, otp, ...sent } = await sentCode(world, freshEmail())
  const session: PageSession & { refreshToken: string } = {
    userId: '',
    ...(await world.call('POST', '/page/email/login', { ...sent, otp })),
  }
  const begun = await askUser(world, session, 'initialize', { blockchains: ['BASE-SEPOLIA'] })
  await approved(world, session, begun, [
    ['D', device],
    ['R', recovery],
  ])
  const challenge = await askUser(world, session, 'wallets', { blockchains: ['BASE-SEPOLIA'] })
  await approve(world, session, challenge, [['D', other]])
  await approved(world, session, challenge, [['D', device]])
  const renewed = await harness.http('POST', '/v1/w3s/users/token/refresh', {
    body: { idempotencyKey: randomUUID(), refreshToken: session.refreshToken, deviceId },
    headers: { 'X-User-Token': session.userToken },
  })
  expect(renewed.status).toBe(200)

  const secrets: Record<string, RegExp> = {
    PIN: digits(pin),
    'wrong PIN': digits(wrongPin),
    'code of the mail': digits(otp),
    answer: text('Elm Street'),
    'other answer': /\bbruno\b/i,
    signature: text(result.signature),
    'secret of the device': bytes(device),
    'recovery secret': bytes(recovery),
    'wrong secret of a device': bytes(other),
    'user token': text(session.userToken),
    'refresh token': text(session.refreshToken),
    'next user token': text(renewed.body.data.userToken),
    'next refresh token': text(renewed.body.data.refreshToken),
    'device token': text(sent.deviceToken),
    'token of the code': text(sent.otpToken),
    'key of the user token': bytes(Buffer.from(session.encryptionKey, 'base64')),
    'key of the device token': bytes(Buffer.from(sent.deviceEncryptionKey, 'base64')),
  }
  const searched = [...(await valuesOfTables()), ...(await valuesOfFiles()), ...logged]
  const foundIn = (values: readonly string[]) =>
    Object.entries(secrets).flatMap(([name, secret]) =>
      values.some((value) => secret.test(value)) ? [name] : [],
    )
  expect(foundIn(searched)).toEqual([])
  // The search finds what is there.
  const planted = [`a ${pin}`, `{"otp":"${otp}"}`, recovery.toString('latin1'), `x${device.toString('hex')}`]
  expect(foundIn(planted)).toEqual(['PIN', 'code of the mail', 'secret of the device', 'recovery secret'])
})
