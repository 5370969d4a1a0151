import type { Ctx } from '#engines/ctx'
import { walletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import {
  settleBatchedPayment,
  supportedBatchedPayments,
  verifyBatchedPayment,
} from './accept-batched-payment.ts'
import {
  acceptedBody,
  acceptedSchema,
  batchedKindsSchema,
  batchedTransferParams,
  batchedTransferSchema,
  batchedTransfersQuery,
  batchedTransfersSchema,
  batchedVerdictSchema,
  offeredBody,
} from './batched-schema.ts'
import { getBatchedTransfer, listBatchedTransfers } from './read-batched-transfers.ts'

/** Callers need no key, as for unified balances: only signatures of payers move them. */
const shared = { tag: 'x402', auth: 'none', enveloped: false } as const

export const batchedPaymentEndpoints = [
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/x402/supported',
    operationId: 'listBatchedPaymentKinds',
    summary: 'List what is settled in batches',
    description:
      'Lists the networks on which payments of unified balances are settled in batches, with what payers sign for. Needs no key.',
    response: batchedKindsSchema,
    errors: [],
    verb: async (ctx: Ctx) => supportedBatchedPayments(ctx),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v1/x402/verify',
    operationId: 'verifyBatchedPayment',
    summary: 'Verify a payment of a unified balance',
    description:
      'Checks a signed payment against what a seller requires, and against the balance of its payer. Reserves nothing. A refused payment is a success of HTTP with `isValid` false. Needs no key.',
    changing: false,
    body: offeredBody,
    response: batchedVerdictSchema,
    errors: [],
    verb: (ctx: Ctx, { body }) => verifyBatchedPayment(ctx, body),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v1/x402/settle',
    operationId: 'settleBatchedPayment',
    summary: 'Settle a payment of a unified balance',
    description:
      'Reserves the amount of a signed payment, once, and settles it with others in one transaction later. The payee can spend it when the block of that is final. One delivery alone is answered with success: a request that is repeated with its `deliveryId` gets the same answer. Needs no key.',
    changing: false,
    body: acceptedBody,
    response: acceptedSchema,
    errors: ['unavailable', 'chainHalted'],
    verb: (ctx: Ctx, { body }) => settleBatchedPayment(ctx, body),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/x402/transfers',
    operationId: 'listBatchedTransfers',
    summary: 'List payments of unified balances',
    description:
      'Lists the accepted payments that pass all filters, newest first. `status` needs one of `from`, `to` and `nonce`. Needs no key.',
    query: batchedTransfersQuery,
    response: batchedTransfersSchema,
    collection: {
      ...walletCollection,
      dates: { from: 'startDate', to: 'endDate' },
      items: 'transfers',
    },
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listBatchedTransfers(ctx, query, page),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/x402/transfers/{id}',
    operationId: 'getBatchedTransfer',
    summary: 'Get a payment of a unified balance',
    description: 'Returns the state of an accepted payment. Needs no key.',
    params: batchedTransferParams,
    response: batchedTransferSchema,
    errors: ['unifiedTransferNotFound'],
    verb: (ctx: Ctx, { params }) => getBatchedTransfer(ctx, params.id),
  }),
]
