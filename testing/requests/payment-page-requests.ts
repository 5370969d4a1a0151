import { makeTransientIntent, type World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const contents = { merchantName: 'Corner Books', description: 'Order 1042' }

/** The id of an intent with a page, and the token in its link. */
async function paged(world: World): Promise<{ id: string; token: string }> {
  const { id } = await makeTransientIntent(world)
  const { url } = await world.call('PUT', `/v1/paymentIntents/${id}/page`, contents)
  return { id, token: new URL(url).pathname.split('/').at(-1)! }
}

export const paymentPageRequests: Record<string, RequestSamples> = {
  'PUT /v1/paymentIntents/{id}/page': {
    request: async (world) => ({
      params: { id: (await makeTransientIntent(world)).id },
      body: { ...contents, returnUrl: 'https://shop.example/orders/1042', chains: ['ETH'] },
    }),
    refused: async () => ({ returnUrl: 'javascript:void 0' }),
  },
  'GET /v1/paymentIntents/{id}/page': {
    request: async (world) => ({ params: { id: (await paged(world)).id } }),
  },
  'GET /page/payments/{token}': {
    request: async (world) => ({ params: { token: (await paged(world)).token } }),
  },
}
