import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { type Harness, openHarness } from '#testing/platform/harness'
import { parseLinkHeader } from '#testing/requests/link-header'

let harness: Harness
let client: ReturnType<typeof clientOf>

const clientOf = (apiKey: string) => initiateUserControlledWalletsClient({ apiKey, baseUrl: harness.url })

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  client = clientOf(harness.apiKey)
})
afterAll(() => harness?.close())

const codeOf = (asking: Promise<unknown>) =>
  asking.then(
    () => 'no error',
    (error) => [error.response.status, error.response.data.code],
  )

describe('users', () => {
  it('are made under an id of the app, and shown', async () => {
    const userId = 'user 1/ü'
    const { data: made } = await client.createUser({ userId })
    expect(made).toEqual({
      id: userId,
      status: 'ENABLED',
      createDate: expect.any(String),
      pinStatus: 'UNSET',
      pinDetails: { failedAttempts: 0 },
      securityQuestionStatus: 'UNSET',
      securityQuestionDetails: { failedAttempts: 0 },
    })
    expect((await client.getUser({ userId })).data!.user).toEqual(made)
  })

  it('have an id that is unique within their entity', async () => {
    const userId = 'unique'
    await client.createUser({ userId })
    expect(await codeOf(client.createUser({ userId }))).toEqual([409, 155101])
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => harness.http('POST', '/v1/w3s/users', { body: { userId: 'at once' } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    const other = clientOf((await harness.newEntity()).apiKey)
    expect(await codeOf(other.getUser({ userId }))).toEqual([404, 155102])
    expect((await other.createUser({ userId })).data!.id).toBe(userId)
  })

  it.each(['four', 'x'.repeat(51), '😀'.repeat(4)])('refuses the id %j', async (userId) => {
    expect(await codeOf(client.createUser({ userId }))).toEqual([400, 2])
    expect(await codeOf(client.getUser({ userId }))).toEqual([404, 155102])
  })

  it.each(['fives', '😀'.repeat(50), '../..', '%2f%00', 'a?b#c;d'])('accepts the id %j', async (userId) => {
    await client.createUser({ userId })
    expect((await client.getUser({ userId })).data!.user!.id).toBe(userId)
  })

  it('are listed by the status of their PIN, whose lock ends by the clock', async () => {
    const tenant = await harness.newEntity()
    const own = clientOf(tenant.apiKey)
    for (const userId of ['unset', 'enabled', 'locked']) await own.createUser({ userId })
    const { clock, database } = harness
    const [lockedDate, unlockDate] = [0, 1_800_000].map((ms) => new Date(clock.nowMs() + ms).toISOString())
    const users = sql`users where entity_id = ${tenant.entityId} and user_id`
    await database.run(sql`insert into user_keys (entity_id, user_id, sealed_secret, create_date)
      select entity_id, id, '\\x00', create_date from ${users} <> 'unset'`)
    await database.run(sql`insert into user_key_wraps (entity_id, user_id, kind, slot, sealed_key, salt, memory_kib, passes,
        create_date, update_date)
      select entity_id, id, kind, '', '\\x00', decode(repeat('00', 16), 'hex'), 64, 1, create_date, create_date
      from unnest(array['pin', 'answers']) kind, ${users} = 'enabled' or kind = 'pin' and entity_id = ${tenant.entityId}
        and user_id = 'locked'`)
    await database.run(sql`insert into user_key_guesses (entity_id, user_id, kind, counted, locks, locking, locked_date,
        locked_until)
      select entity_id, id, 'pin', 4, 1, 4, ${lockedDate}::timestamptz, ${unlockDate}::timestamptz from ${users} = 'locked'`)
    const listed = async (filter: object) =>
      (await own.listUsers(filter)).data!.users!.map((user) => user!.id).sort()
    expect(await listed({ pinStatus: 'UNSET' })).toEqual(['unset'])
    expect(await listed({ pinStatus: 'LOCKED' })).toEqual(['locked'])
    expect(await listed({ pinStatus: 'ENABLED', securityQuestionStatus: 'ENABLED' })).toEqual(['enabled'])
    const { pinStatus, pinDetails } = (await own.getUser({ userId: 'locked' })).data!.user!
    expect([pinStatus, pinDetails]).toEqual([
      'LOCKED',
      { failedAttempts: 4, lockedDate, lockedExpiryDate: unlockDate },
    ])
    clock.moveMs(1_800_000)
    expect(await listed({ pinStatus: 'ENABLED' })).toEqual(['enabled', 'locked'])
  })

  it('continue after an internal id, or after a userId that is a UUID', async () => {
    const tenant = await harness.newEntity()
    const own = clientOf(tenant.apiKey)
    const ids = [1, 2, 3].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`)
    for (const userId of ids) await own.createUser({ userId })
    const first = await own.listUsers({ pageSize: 1 })
    expect(first.data!.users!.map((user) => user!.id)).toEqual([ids[2]])
    const { next } = parseLinkHeader(first.headers['link'])
    const { body } = await tenant.http('GET', next!.slice(harness.url.length))
    expect(body.data.users[0].id).toBe(ids[1])
    const after = await own.listUsers({ pageAfter: ids[2]!, pageSize: 1 })
    expect(after.data!.users!.map((user) => user!.id)).toEqual([ids[1]])
    expect((await own.listUsers({ pageBefore: ids[1]! })).data!.users!.map((user) => user!.id)).toEqual([
      ids[2],
    ])
  })
})
