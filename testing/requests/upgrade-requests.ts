import { makeAccount } from '#testing/builders/smart-accounts'
import { keyed } from './keyed-request.ts'
import type { RequestSamples } from './sample-request.ts'

const old = 'circle_6900_singleowner_v1'

/** Sample requests for upgrades, each of a new wallet: one is upgraded once. */
export const upgradeRequests: Record<string, RequestSamples> = {
  'POST /v1/w3s/developer/transactions/walletUpgrade': {
    request: async (world) =>
      keyed(world, {
        walletId: (await makeAccount(world, old)).id,
        newScaCore: 'circle_6900_singleowner_v2',
        feeLevel: 'MEDIUM',
      }),
    changes: async (world) => ({
      walletId: (await makeAccount(world, old)).id,
      feeLevel: 'HIGH',
      refId: 'another',
    }),
    refused: async () => ({ feeLevel: undefined }),
  },
}
