import { toClientEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { newId } from '#lib/ids'
import { oncePer } from '#runtime/scheduling/memoize'
import { freshAddress, type World } from '#testing/builders/world'
import { insertRows, signedPayment } from '#testing/databases/queue-rows'
import type { RequestSamples } from './sample-request.ts'

const payer = privateKeyToAccount(generatePrivateKey())

/** A payment of a payer without coins: the answer is a success of HTTP, and waits for no block. */
async function payment({ harness }: World) {
  const { chainId, tokens } = harness.chain()
  const required = {
    scheme: 'exact',
    network: `eip155:${chainId}` as const,
    payTo: freshAddress(),
    amount: '1000',
    maxTimeoutSeconds: 3_600,
    asset: tokens.USDC,
    extra: { name: 'USDC', version: '2' },
  }
  const signer = toClientEvmSigner(payer, {
    readContract: () => Promise.reject(new Error('unused')),
  } as never)
  const signed = await new ExactEvmScheme(signer).createPaymentPayload(2, required)
  const paymentPayload = { ...signed, accepted: required }
  return { x402Version: 2, paymentPayload, paymentRequirements: required }
}

/** A payment that waits without an end: these suites are about requests. */
const recorded = oncePer(async ({ harness, tenant }: World) => {
  const id = newId(Date.now())
  const row = { ...signedPayment({ entityId: tenant.entityId, index: 1 }), id, payer: freshAddress() }
  await insertRows(harness.database, 'x402_payments', [row])
  return id
})

const pays: RequestSamples = { request: async (world) => ({ body: await payment(world) }) }

export const x402Requests: Record<string, RequestSamples> = {
  'GET /v1/facilitator/x402/supported': { request: async () => ({}) },
  'POST /v1/facilitator/x402/verify': pays,
  'POST /v1/facilitator/x402/settle': pays,
  'GET /v1/facilitator/x402/status/{paymentId}': {
    request: async (world) => ({ params: { paymentId: await recorded(world) } }),
  },
}
