import { randomUUID } from 'node:crypto'
import { oncePer } from '#runtime/scheduling/memoize'
import { sealedEntry } from '#testing/builders/command-logins'
import { freshEmail, logIn, makeUser, sentCode, tokenOf } from '#testing/builders/users'
import type { World } from '#testing/builders/world'
import { sentIdentity, socialProviderOf } from '#testing/servers/social-logins'
import type { RequestSamples } from './sample-request.ts'

const user = oncePer((world: World) => makeUser(world))

const emailLogin = () => ({ idempotencyKey: randomUUID(), deviceId: randomUUID(), email: freshEmail() })

/** Sample requests about users and their sessions. */
export const userRequests: Record<string, RequestSamples> = {
  'POST /v1/w3s/users': { request: async () => ({ body: { userId: `user-${randomUUID()}` } }) },
  'GET /v1/w3s/users': { request: async () => ({}) },
  'POST /v1/w3s/users/token': { request: async (world) => ({ body: { userId: (await user(world)).id } }) },
  'POST /v1/w3s/users/email/token': {
    request: async () => ({ body: emailLogin() }),
    changes: async () => ({ deviceId: randomUUID(), email: freshEmail() }),
    refused: async () => ({ email: 'nobody' }),
  },
  'POST /v1/w3s/users/email/resendOTP': {
    request: async (world) => {
      const { idempotencyKey: _, ...login } = emailLogin()
      const { otpToken } = await world.call('POST', '/v1/w3s/users/email/token', {
        ...login,
        idempotencyKey: randomUUID(),
      })
      return { body: { idempotencyKey: randomUUID(), otpToken, ...login } }
    },
    changes: async () => ({ deviceId: randomUUID(), email: freshEmail(), otpToken: 'another' }),
    refused: async () => ({ email: freshEmail() }),
  },
  'POST /v1/w3s/users/token/refresh': {
    request: async (world) => {
      const { deviceId, userToken, refreshToken } = await logIn(world)
      const body = { idempotencyKey: randomUUID(), refreshToken, deviceId }
      return { body, headers: { 'X-User-Token': userToken } }
    },
    changes: async () => ({ deviceId: randomUUID(), refreshToken: 'another' }),
    refused: async () => ({ deviceId: 'another' }),
    recordedRefusal: /the session has ended/,
  },
  'POST /page/email/login': {
    request: async (world) => {
      const { deviceId: _, ...entered } = await sentCode(world)
      return { body: entered }
    },
  },
  'POST /v1/w3s/users/social/token': {
    request: async (world) => {
      await socialProviderOf(world)
      return { body: { idempotencyKey: randomUUID(), deviceId: randomUUID() } }
    },
    changes: async () => ({ deviceId: randomUUID() }),
    refused: async () => ({ deviceId: 'a b' }),
  },
  'POST /page/social/login': {
    request: async (world) => {
      const { deviceId: _, ...entered } = await sentIdentity(world)
      return { body: entered }
    },
  },
  'POST /v1/w3s/auth/deviceToken': {
    request: async () => ({ body: { idempotencyKey: randomUUID(), deviceId: randomUUID() } }),
    changes: async () => ({ deviceId: randomUUID() }),
    refused: async () => ({ deviceId: 'a b' }),
  },
  'POST /v1/w3s/sdk/users/email/verifyOTP': {
    request: async (world) => ({ body: sealedEntry(await sentCode(world)) }),
  },
  'GET /.well-known/jwks.json': { request: async () => ({}) },
  'GET /v1/w3s/user': {
    request: async (world) => ({ headers: { 'X-User-Token': await tokenOf(world, (await user(world)).id) } }),
  },
  'GET /v1/w3s/users/{id}': { request: async (world) => ({ params: { id: (await user(world)).id } }) },
  ...Object.fromEntries(
    ['disable', 'enable', 'logOut'].map((verb): [string, RequestSamples] => [
      `POST /operator/users/{id}/${verb}`,
      { request: async (world) => ({ params: { id: (await makeUser(world)).id } }) },
    ]),
  ),
}
