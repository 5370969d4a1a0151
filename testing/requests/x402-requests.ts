import { randomBytes } from 'node:crypto'
import { toClientEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { oncePer } from '#runtime/scheduling/memoize'
import { freshAddress, type World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const payer = privateKeyToAccount(generatePrivateKey())

/** Coins that no sample exhausts. */
const funded = oncePer(({ harness }: World) => harness.fundWallet(payer.address, { usdc: '1000' }))

/** A payment that is settled, another one each time. */
async function payment(world: World) {
  await funded(world)
  const { chainId, tokens } = world.harness.chain()
  const required = {
    scheme: 'exact',
    network: `eip155:${chainId}` as const,
    payTo: freshAddress(),
    amount: '1000',
    maxTimeoutSeconds: 3_600,
    asset: tokens.USDC,
    extra: { name: 'USDC', version: '2', salt: toHex(randomBytes(4)) },
  }
  const signer = toClientEvmSigner(payer, {
    readContract: () => Promise.reject(new Error('not needed')),
  } as never)
  const signed = await new ExactEvmScheme(signer).createPaymentPayload(2, required)
  return { x402Version: 2, paymentPayload: { ...signed, accepted: required }, paymentRequirements: required }
}

const settled = oncePer(async (world: World) => {
  const { body } = await world.harness.http('POST', '/v1/facilitator/x402/settle', {
    body: await payment(world),
  })
  return body as { paymentId: string }
})

const pays: RequestSamples = { request: async (world) => ({ body: await payment(world) }) }

export const x402Requests: Record<string, RequestSamples> = {
  'GET /v1/facilitator/x402/supported': { request: async () => ({}) },
  'POST /v1/facilitator/x402/verify': pays,
  'POST /v1/facilitator/x402/settle': pays,
  'GET /v1/facilitator/x402/status/{paymentId}': {
    request: async (world) => ({ params: { paymentId: (await settled(world)).paymentId } }),
  },
}
