import { randomUUID } from 'node:crypto'
import { sql } from '#runtime/db/db'
import { until } from '#testing/platform/until'
import type { World } from './world.ts'

/** A new user under an id that no other user has. */
export const makeUser = (
  world: Pick<World, 'call'>,
  userId = `user-${randomUUID()}`,
): Promise<{ id: string }> => world.call('POST', '/v1/w3s/users', { userId })

/** The id by which lists continue after a user. */
export const internalIdOf = async ({ harness, tenant }: World, userId: string): Promise<string> =>
  (
    await harness.database.one<{ id: string }>(
      sql`select id from users where entity_id = ${tenant.entityId} and user_id = ${userId}`,
    )
  ).id

/** A token of the user. */
export const tokenOf = async (world: World, userId: string): Promise<string> =>
  (await world.call('POST', '/v1/w3s/users/token', { userId })).userToken

export const freshEmail = () => `${randomUUID()}@example.com`

/** The code of the newest mail to an address. */
export async function mailedCode({ harness }: World, email: string): Promise<string> {
  let code: string | undefined
  await until(async () => {
    const [mail] = (await harness.http('GET', '/sandbox/mails', { query: { to: email.toLowerCase() } })).body
      .data
    code = /is (\d{6})\./.exec(mail?.text)?.[1]
    return code !== undefined
  }, 'the code is mailed')
  return code!
}

export type SentLogin = {
  deviceId: string
  deviceToken: string
  deviceEncryptionKey: string
  otpToken: string
  otp: string
}

/** A login that was begun, with what a page sends to complete it. */
export async function sentCode(
  world: World,
  email = freshEmail(),
  deviceId: string = randomUUID(),
): Promise<SentLogin> {
  const body = { idempotencyKey: randomUUID(), deviceId, email }
  const made = await world.call('POST', '/v1/w3s/users/email/token', body)
  return { deviceId, ...made, otp: await mailedCode(world, email) }
}

/** The session of a user who has logged in by e-mail. */
export async function logIn(world: World, email = freshEmail(), onDevice?: string) {
  const { deviceId, ...entered } = await sentCode(world, email, onDevice)
  const session = await world.call('POST', '/page/email/login', entered)
  return { deviceId, ...session } as {
    deviceId: string
    userToken: string
    encryptionKey: string
    refreshToken: string
  }
}
