import { requireThat } from '../caller.ts'
import type { CheckGroup } from '../world.ts'

export const webhookSubscriptions: CheckGroup = {
  name: 'webhooks',
  checks: [
    {
      about: 'lists subscriptions',
      run: async ({ done }) => {
        const found = await done('GET /v2/notifications/subscriptions')
        requireThat(Array.isArray(found), 'the answer is no list')
      },
    },
    {
      about: 'refuses an endpoint that is no address of the web',
      run: async ({ ask }) => {
        for (const endpoint of ['example', 'ftp://example.com/', 'https://', 'https://user@']) {
          const { status } = await ask('POST /v2/notifications/subscriptions', { body: { endpoint } })
          requireThat(status === 400, `answers ${status} to "${endpoint}"`)
        }
      },
    },
    {
      about: 'refuses a type of notification that does not exist',
      run: async ({ ask }) => {
        const body = { endpoint: 'https://example.com/hook', notificationTypes: ['nothing.at.all'] }
        const { status } = await ask('POST /v2/notifications/subscriptions', { body })
        requireThat(status === 400, `answers ${status}`)
      },
    },
  ],
}
