import { randomUUID } from 'node:crypto'
import { uploadBatch } from '#testing/builders/payout-batches'
import { nextCount } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

/** Sample requests for payouts from files. */
export const payoutBatchRequests: Record<string, RequestSamples> = {
  'GET /operator/payoutBatches': { request: async () => ({}) },
  'POST /operator/payoutBatches': {
    request: async (world) => ({
      body: {
        idempotencyKey: randomUUID(),
        name: `Salaries ${nextCount()}`,
        csv: `recipient,amount,currency\n${(await world.payee()).id},0.01,USD\n`,
        purposeOfTransfer: 'PMT008',
      },
    }),
    changes: async (world) => ({
      name: 'Salaries of December',
      purposeOfTransfer: 'PMT001',
      csv: `recipient,amount,currency\n${(await world.payee()).id},0.02,USD\n`,
    }),
    refused: async () => ({ csv: 'amount,currency\n1,USD\n' }),
  },
  'GET /operator/payoutBatches/{id}': {
    request: async (world) => ({ params: { id: (await uploadBatch(world)).id } }),
  },
  'GET /operator/payoutBatches/{id}/rows': {
    request: async (world) => ({ params: { id: (await uploadBatch(world)).id } }),
  },
  'POST /operator/payoutBatches/{id}/approve': {
    request: async (world) => {
      await world.money()
      const { id, contentHash } = await uploadBatch(world)
      return { params: { id }, body: { contentHash } }
    },
  },
  'POST /operator/payoutBatches/{id}/cancel': {
    request: async (world) => ({ params: { id: (await uploadBatch(world)).id } }),
  },
}
