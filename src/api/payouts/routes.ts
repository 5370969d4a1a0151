import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createPayout } from './create-payout.ts'
import { getPayout } from './get-payout.ts'
import { listPayouts } from './list-payouts.ts'
import { newPayoutSchema, payoutFilters, payoutParams, payoutQuery, payoutSchema } from './schema.ts'

const tag = 'Payouts'

export const payoutEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/payouts',
    operationId: 'createPayout',
    summary: 'Create a payout: a stablecoin to a recipient of the address book',
    tag,
    auth: 'apiKey',
    body: newPayoutSchema,
    response: payoutSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (payout: { id: string }) => payout.id,
      reload: (ctx: Ctx, id) => getPayout(ctx, id),
    },
    errors: [
      'invalidRequest',
      'payoutAmountNotPositive',
      'currencyUnsupportedForOperation',
      'sourceWalletUnknown',
      'identityTypeInvalid',
      'countryInvalid',
      'districtInvalid',
      'payeeNotFound',
      'payeeInactive',
      'addressUnpayable',
      'chainUnsupported',
      'chainUnfitForCurrency',
      'chainNotStarted',
      'payoutFundsInsufficient',
      'unauthorized',
      'conflict',
    ],
    verb: (ctx: Ctx, input) => createPayout(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/payouts',
    operationId: 'listPayouts',
    summary: 'List payouts',
    tag,
    auth: 'apiKey',
    query: payoutFilters,
    response: Type.Array(payoutSchema),
    collection: businessCollection,
    errors: [
      'invalidRequest',
      'walletIdNotNumeric',
      'destinationTypesMixed',
      'cursorNotFound',
      'cursorNotUuid',
      'unauthorized',
    ],
    verb: (ctx: Ctx, input) => listPayouts(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/payouts/{id}',
    operationId: 'getPayout',
    summary: 'Get a payout',
    tag,
    auth: 'apiKey',
    params: payoutParams,
    query: payoutQuery,
    response: payoutSchema,
    errors: ['invalidRequest', 'payoutNotFound', 'unauthorized'],
    verb: (ctx: Ctx, { params, query }) => getPayout(ctx, params.id, query),
  }),
]
