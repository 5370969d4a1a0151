import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createBusinessTransfer } from './create-transfer.ts'
import { getBusinessTransfer, listBusinessTransfers } from './read-transfers.ts'
import {
  businessTransferParams,
  businessTransferQuery,
  businessTransferSchema,
  newTransferSchema,
  transferFilters,
} from './schema.ts'

const tag = 'Transfers'

export const businessTransferEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/businessAccount/transfers',
    operationId: 'createBusinessTransfer',
    summary: 'Create a transfer',
    description:
      'Sends a stablecoin to a verified recipient address of your own. The amount is reserved at once; the transaction is sent after the response.',
    tag,
    auth: 'apiKey',
    body: newTransferSchema,
    response: businessTransferSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (transfer: { id: string }) => transfer.id,
      reload: (ctx: Ctx, id) => getBusinessTransfer(ctx, id),
    },
    errors: [
      'currencyUnsupportedForOperation',
      'sourceAccountUnknown',
      'policyDenied',
      'addressUnverified',
      'addressUnpayable',
      'chainUnsupported',
      'chainUnfitForCurrency',
      'chainNotStarted',
      'transferFundsInsufficient',
    ],
    verb: (ctx: Ctx, input) => createBusinessTransfer(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/transfers',
    operationId: 'listBusinessTransfers',
    summary: 'List transfers',
    description: 'Lists outgoing and incoming transfers, newest first.',
    tag,
    auth: 'apiKey',
    query: transferFilters,
    response: Type.Array(businessTransferSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, input) => listBusinessTransfers(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/transfers/{id}',
    operationId: 'getBusinessTransfer',
    summary: 'Get a transfer',
    description: 'Returns one transfer.',
    tag,
    auth: 'apiKey',
    params: businessTransferParams,
    query: businessTransferQuery,
    response: businessTransferSchema,
    errors: ['transferNotFound'],
    verb: (ctx: Ctx, { params, query }) => getBusinessTransfer(ctx, params.id, query),
  }),
]
