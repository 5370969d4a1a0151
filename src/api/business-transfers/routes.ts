import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createTransfer } from './create-transfer.ts'
import { getTransfer, listTransfers } from './read-transfers.ts'
import {
  newTransferSchema,
  transferFilters,
  transferParams,
  transferQuery,
  transferSchema,
} from './schema.ts'

const tag = 'Transfers'

export const businessTransferEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/businessAccount/transfers',
    operationId: 'createBusinessTransfer',
    summary: 'Create a transfer: a stablecoin to a verified address of your own',
    tag,
    auth: 'apiKey',
    body: newTransferSchema,
    response: transferSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (transfer: { id: string }) => transfer.id,
      reload: (ctx: Ctx, id) => getTransfer(ctx, id),
    },
    errors: [
      'invalidRequest',
      'currencyUnsupportedForOperation',
      'sourceAccountUnknown',
      'addressUnverified',
      'addressUnpayable',
      'chainUnsupported',
      'chainUnfitForCurrency',
      'chainNotStarted',
      'transferFundsInsufficient',
      'unauthorized',
      'conflict',
    ],
    verb: (ctx: Ctx, input) => createTransfer(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/transfers',
    operationId: 'listBusinessTransfers',
    summary: 'List transfers, outgoing and incoming',
    tag,
    auth: 'apiKey',
    query: transferFilters,
    response: Type.Array(transferSchema),
    collection: businessCollection,
    errors: ['invalidRequest', 'cursorNotFound', 'cursorNotUuid', 'unauthorized'],
    verb: (ctx: Ctx, input) => listTransfers(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/businessAccount/transfers/{id}',
    operationId: 'getBusinessTransfer',
    summary: 'Get a transfer',
    tag,
    auth: 'apiKey',
    params: transferParams,
    query: transferQuery,
    response: transferSchema,
    errors: ['invalidRequest', 'transferNotFound', 'unauthorized'],
    verb: (ctx: Ctx, { params, query }) => getTransfer(ctx, params.id, query),
  }),
]
