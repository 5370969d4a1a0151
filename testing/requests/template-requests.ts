import { randomUUID } from 'node:crypto'
import { makeWallet, type World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const params = { id: 'a1b74add-23e0-4712-88d1-6b3009e85a86' }

const body = async (world: World) => {
  const { id: walletId, address, blockchain } = await world.fundedWallet()
  const templateParameters = { name: 'Gold', defaultAdmin: address, primarySaleRecipient: address }
  return { walletId, blockchain, templateParameters }
}

/** Sample requests for the templates of contracts. */
export const templateRequests: Record<string, RequestSamples> = {
  'POST /v1/w3s/templates/{id}/deploy': {
    request: async (world) => ({
      params,
      body: {
        idempotencyKey: randomUUID(),
        entitySecretCiphertext: await world.tenant.sealSecret(),
        ...(await body(world)),
        name: 'Gold',
        feeLevel: 'MEDIUM',
      },
    }),
    changes: async (world) => {
      const { templateParameters } = await body(world)
      return {
        name: 'Silver',
        templateParameters: { ...templateParameters, name: 'Silver' },
        walletId: (await makeWallet(world)).id,
        feeLevel: 'HIGH',
        refId: 'another',
      }
    },
    refused: async () => ({ templateParameters: {} }),
  },
  'POST /v1/w3s/templates/{id}/deploy/estimateFee': {
    request: async (world) => ({ params, body: await body(world) }),
  },
}
