import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { oncePer } from '#runtime/scheduling/memoize'
import { batchedPayment, people, unifiedBalances } from '#testing/builders/unified-balances'
import { freshAddress, type World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'
import { fundDepositor } from './unified-requests.ts'

const payer = people[7]!

const accepted = oncePer(async (world: World) => {
  await fundDepositor(world)
  const chain = world.harness.chain()
  const { body } = await unifiedBalances(world.harness).payment(chain, payer, freshAddress(), '1')
  return body.transaction as string
})

/** A payment of a payer without coins: the answer is a success of HTTP, however often it is asked for. */
const poor = privateKeyToAccount(generatePrivateKey())
const pays: RequestSamples = {
  request: async (world) => ({
    body: await batchedPayment(world.harness.chain(), poor, freshAddress(), '1'),
  }),
}

export const batchedPaymentRequests: Record<string, RequestSamples> = {
  'GET /v1/x402/supported': { request: async () => ({}) },
  'POST /v1/x402/verify': pays,
  'POST /v1/x402/settle': pays,
  'GET /v1/x402/transfers': { request: async () => ({ query: { from: payer.address } }) },
  'GET /v1/x402/transfers/{id}': { request: async (world) => ({ params: { id: await accepted(world) } }) },
}
