import { randomUUID } from 'node:crypto'
import { answerTimeoutMs, requireEqual, requireThat } from '../caller.ts'
import type { CheckGroup } from '../world.ts'

const anyList = 'GET /v1/w3s/walletSets'

export const access: CheckGroup = {
  name: 'access',
  checks: [
    {
      about: 'answers /ping without a key',
      run: async ({ done }) =>
        requireEqual((await done('GET /ping', { key: null })).message, 'pong', 'message'),
    },
    {
      about: 'refuses a request without a key',
      run: async ({ refused }) => void (await refused(anyList, 'unauthorized', { key: null })),
    },
    {
      about: 'refuses a key that is none',
      run: async ({ refused }) => {
        for (const key of [
          'TEST_API_KEY',
          'TEST_API_KEY:::',
          'TEST_API_KEY:a:b:c',
          `TEST_API_KEY:${'x'.repeat(2_000)}:y`,
        ])
          await refused(anyList, 'unauthorized', { key })
      },
    },
    {
      about: 'refuses the key of an unknown secret',
      run: async ({ refused }) =>
        void (await refused(anyList, 'unauthorized', {
          key: `TEST_API_KEY:${randomUUID().replaceAll('-', '')}:${randomUUID().replaceAll('-', '')}`,
        })),
    },
    {
      about: 'names each request: by the X-Request-Id that came, or by one of its own',
      run: async ({ ask }) => {
        const id = randomUUID()
        const named = await ask(anyList, { headers: { 'x-request-id': id } })
        requireEqual(named.headers.get('x-request-id'), id, 'X-Request-Id')
        const [one, other] = [await ask(anyList), await ask(anyList)].map(({ headers }) =>
          headers.get('x-request-id'),
        )
        requireThat(one !== null && one !== other, 'two requests have no ids, or the same')
      },
    },
    {
      about: 'answers a path that does not exist with 404, as JSON',
      run: async ({ url }) => {
        const response = await fetch(`${url}/v1/w3s/${randomUUID()}`, {
          signal: AbortSignal.timeout(answerTimeoutMs),
        })
        const { code, message } = (await response.json().catch(() => ({}))) as {
          code?: number
          message?: string
        }
        requireEqual(response.status, 404, 'the status')
        requireThat(Number.isInteger(code) && typeof message === 'string', 'the body has no code and message')
      },
    },
    {
      about: 'tells the entity of the key, and its public key of at least 2048 bits',
      run: async ({ done }) => {
        const { appId } = await done('GET /v1/w3s/config/entity')
        requireThat(typeof appId === 'string' && appId !== '', 'the entity has no appId')
        const { publicKey } = await done('GET /v1/w3s/config/entity/publicKey')
        requireThat(
          /^-----BEGIN (RSA )?PUBLIC KEY-----\s[\s\S]{370,}-----END/.test(publicKey),
          'publicKey is no PEM of such a key',
        )
      },
    },
  ],
}
