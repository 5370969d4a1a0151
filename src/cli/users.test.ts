import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshEmail, logIn } from '#testing/builders/users'
import { type World, worldOf } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { approve, approved, type Field, type PageSession, pin, shownChallenge } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { runCommand } from '#testing/processes/command'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'

let harness: Harness
let world: World
let user: PageSession
beforeAll(async () => {
  harness = await openHarness({ engines: false })
  world = worldOf(harness)
  user = await makePinUser(world)
})
afterAll(() => harness?.close())

const users = (...args: string[]) =>
  runCommand({
    command: 'users',
    args: [...args, '--entity', world.tenant.entityId],
    dataDir: harness.ctx.config.dataDir,
    env: { DATABASE_URL: urlOf(harness.connection) },
  })

it('ends a lock, so that the user has all tries again', async () => {
  const id = await askUser(world, user, 'wallets', { blockchains: ['BASE-SEPOLIA'] })
  for (let count = 0; count < 4; count++) await approve(world, user, id, [['P', '999000']])
  expect((await approve(world, user, id)).body.code).toBe(155119)
  expect((await users('show', user.userId)).stdout).toMatch(/LOCKED/)
  expect((await users('unlock', user.userId, 'pin')).stdout).toMatch(/ENABLED/)
  expect((await approve(world, user, id, [['P', '999000']])).body.code).toBe(155112)
  expect((await approved(world, user, id)).challenge.status).toBe('COMPLETE')
  const { pinDetails } = (await world.call('GET', `/v1/w3s/users/${user.userId}`)).user
  expect(pinDetails.lastLockOverrideDate).toEqual(expect.any(String))
  expect(await users('unlock', user.userId, pin)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('pin or answers'),
  })
})

it('disables a user, whose tokens then count no more, and enables the user again', async () => {
  const status = async () =>
    (await harness.http('GET', '/v1/w3s/user', { headers: { 'X-User-Token': user.userToken } })).body.code
  await users('disable', user.userId)
  expect(await status()).toBe(155109)
  await users('enable', user.userId)
  expect(await status()).toBeUndefined()
  expect(await users('disable', 'nobody')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('USER matches no user'),
  })
})

it('logs a user out, whose devices then approve only after the recovery code', async () => {
  const email = freshEmail()
  const device: Field = ['D', randomBytes(32)]
  const stolen = { userId: '', ...(await logIn(world, email)) }
  const begun = await askUser(world, stolen, 'initialize', { blockchains: ['BASE-SEPOLIA'] })
  await approved(world, stolen, begun, [device, ['R', randomBytes(32)]])
  const headers = { 'X-User-Token': stolen.userToken }
  const { id } = (await harness.http('GET', '/v1/w3s/user', { headers })).body.data
  await users('log-out', id)
  const refused = await harness.http('GET', '/v1/w3s/user', { headers })
  expect([refused.status, refused.body.code]).toEqual([401, 155103])

  // The thief of a device has its id and its secret as well, and the mailbox.
  const { deviceId, refreshToken } = stolen
  const again = { userId: '', ...(await logIn(world, email, deviceId)) }
  const renewed = await harness.http('POST', '/v1/w3s/users/token/refresh', {
    body: { idempotencyKey: randomUUID(), refreshToken, deviceId },
    headers: { 'X-User-Token': again.userToken },
  })
  expect([renewed.status, renewed.body.code]).toEqual([403, 155105])
  const asked = await askUser(world, again, 'wallets', { blockchains: ['BASE-SEPOLIA'] })
  expect((await shownChallenge(world, again, asked)).needs).toBe('addDevice')
  expect((await approve(world, again, asked, [device])).status).toBe(400)
})
