import { randomUUID } from 'node:crypto'
import { requireEqual, requireThat } from '../caller.ts'
import type { CheckGroup } from '../world.ts'

export const userWallets: CheckGroup = {
  name: 'users',
  checks: [
    {
      about: 'makes a user once, and refuses another one of the same userId',
      run: async ({ done, refused }) => {
        const body = { userId: `conformance-${randomUUID()}` }
        await done('POST /v1/w3s/users', { body })
        await refused('POST /v1/w3s/users', 'userExists', { body })
      },
    },
    {
      about: 'gives no token for an unknown user',
      run: async ({ refused }) =>
        void (await refused('POST /v1/w3s/users/token', 'userNotFound', { body: { userId: randomUUID() } })),
    },
    {
      about: 'tells the status of the user whose token is sent, whose PIN is not set',
      run: async ({ user, done }) => {
        const { userToken } = await user()
        const status = await done('GET /v1/w3s/user', { headers: { 'x-user-token': userToken } })
        requireEqual([status.status, status.pinStatus], ['ENABLED', 'UNSET'], 'status and pinStatus')
      },
    },
    {
      about: 'refuses a token that it has not issued',
      run: async ({ ask }) => {
        const { status } = await ask('GET /v1/w3s/user', { headers: { 'x-user-token': 'a.b.c' } })
        requireThat(status === 401 || status === 403, `answers ${status}`)
      },
    },
    {
      about: 'begins a challenge for the first wallets of a user, and lists it',
      run: async ({ user, done, blockchain }) => {
        const headers = { 'x-user-token': (await user()).userToken }
        const body = { idempotencyKey: randomUUID(), blockchains: [blockchain] }
        const { challengeId } = await done('POST /v1/w3s/user/initialize', { headers, body })
        const again = await done('POST /v1/w3s/user/initialize', { headers, body })
        requireEqual(again.challengeId, challengeId, 'the challenge of the repeated request')
        const { challenge } = await done('GET /v1/w3s/user/challenges/{id}', {
          headers,
          params: { id: challengeId },
        })
        requireEqual([challenge.type, challenge.status], ['INITIALIZE', 'PENDING'], 'type and status')
        const { challenges } = await done('GET /v1/w3s/user/challenges', { headers })
        requireThat(
          challenges.some(({ id }: { id: string }) => id === challengeId),
          'the list of challenges lacks it',
        )
      },
    },
  ],
}
