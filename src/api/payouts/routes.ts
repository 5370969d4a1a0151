import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createPayout } from './create-payout.ts'
import { getPayout, listPayouts } from './read-payouts.ts'
import { newPayoutSchema, payoutFilters, payoutParams, payoutQuery, payoutSchema } from './schema.ts'

const tag = 'Payouts'

export const payoutEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/payouts',
    operationId: 'createPayout',
    summary: 'Create a payout',
    description:
      'Pays a stablecoin to an active recipient of the address book. The amount is reserved at once; the transaction is sent after the response.',
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
      'payoutPurposeInvalid',
      'payoutAmountNotPositive',
      'policyDenied',
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
    ],
    verb: (ctx: Ctx, input) => createPayout(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/payouts',
    operationId: 'listPayouts',
    summary: 'List payouts',
    description: 'Lists payouts, newest first.',
    tag,
    auth: 'apiKey',
    query: payoutFilters,
    response: Type.Array(payoutSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: ['walletIdNotNumeric', 'destinationTypesMixed'],
    verb: (ctx: Ctx, input) => listPayouts(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/payouts/{id}',
    operationId: 'getPayout',
    summary: 'Get a payout',
    description: 'Returns one payout.',
    tag,
    auth: 'apiKey',
    params: payoutParams,
    query: payoutQuery,
    response: payoutSchema,
    errors: ['payoutNotFound'],
    verb: (ctx: Ctx, { params, query }) => getPayout(ctx, params.id, query),
  }),
]
