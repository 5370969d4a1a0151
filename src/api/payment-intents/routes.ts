import Type from 'typebox'
import { businessChains } from '#chains/business-chains'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createPaymentIntent } from './create-payment-intent.ts'
import { expirePaymentIntent } from './expire-payment-intent.ts'
import { getPaymentIntent } from './get-payment-intent.ts'
import { listPaymentIntents } from './list-payment-intents.ts'
import {
  newPaymentIntentSchema,
  paymentIntentFilters,
  paymentIntentParams,
  paymentIntentSchema,
} from './schema.ts'
import { supportedCurrencies } from './supported-currencies.ts'

const tag = 'Payment intents'

export const paymentIntentEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/paymentIntents',
    operationId: 'createPaymentIntent',
    summary: 'Create a payment intent: an address that waits for a stablecoin',
    tag,
    auth: 'apiKey',
    body: newPaymentIntentSchema,
    response: paymentIntentSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (intent: { id: string }) => intent.id,
      reload: (ctx: Ctx, id) => getPaymentIntent(ctx, id),
    },
    errors: [
      'invalidRequest',
      'paymentAmountNotPositive',
      'currencyUnsupported',
      'merchantWalletUnknown',
      'chainUnsupported',
      'chainUnfitForCurrency',
      'chainNotStarted',
      'unauthorized',
      'conflict',
    ],
    verb: (ctx: Ctx, input) => createPaymentIntent(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/paymentIntents',
    operationId: 'listPaymentIntents',
    summary: 'List payment intents',
    tag,
    auth: 'apiKey',
    query: paymentIntentFilters,
    response: Type.Array(paymentIntentSchema),
    collection: businessCollection,
    errors: ['invalidRequest', 'cursorNotFound', 'cursorNotUuid', 'unauthorized'],
    verb: (ctx: Ctx, input) => listPaymentIntents(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/paymentIntents/metadata/supportedCurrencies',
    operationId: 'listSupportedCurrencies',
    summary: 'List the currencies that can be paid, and on which chains',
    tag,
    auth: 'apiKey',
    response: Type.Array(
      Type.Object({
        currency: Type.Enum(['USD', 'EUR']),
        blockchains: Type.Array(Type.Enum(businessChains)),
      }),
    ),
    errors: ['unauthorized'],
    verb: async (ctx: Ctx) => supportedCurrencies(ctx),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/paymentIntents/{id}',
    operationId: 'getPaymentIntent',
    summary: 'Get a payment intent',
    tag,
    auth: 'apiKey',
    params: paymentIntentParams,
    response: paymentIntentSchema,
    errors: ['paymentIntentNotFound', 'invalidRequest', 'unauthorized'],
    verb: (ctx: Ctx, { params }) => getPaymentIntent(ctx, params.id),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/paymentIntents/{id}/expire',
    operationId: 'expirePaymentIntent',
    summary: 'Expire a transient payment intent: wait for its money no longer',
    tag,
    auth: 'apiKey',
    params: paymentIntentParams,
    response: paymentIntentSchema,
    errors: ['paymentIntentNotFound', 'invalidRequest', 'unauthorized'],
    verb: (ctx: Ctx, { params }) => expirePaymentIntent(ctx, params.id),
  }),
]
