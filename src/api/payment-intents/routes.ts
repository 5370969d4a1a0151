import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createPaymentIntent } from './create-payment-intent.ts'
import { expirePaymentIntent } from './expire-payment-intent.ts'
import { getPaymentIntent, listPaymentIntents } from './read-payment-intents.ts'
import {
  newPaymentIntentSchema,
  paymentIntentFilters,
  paymentIntentParams,
  paymentIntentSchema,
  supportedCurrencySchema,
} from './schema.ts'
import { supportedCurrencies } from './supported-currencies.ts'

const tag = 'Payment intents'

export const paymentIntentEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/paymentIntents',
    operationId: 'createPaymentIntent',
    summary: 'Create a payment intent',
    description:
      'Creates a payment intent for one chain and one currency. An address to pay to is assigned to it moments later: see `paymentMethods`.',
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
      'purposeInvalid',
      'paymentAmountNotPositive',
      'currencyUnsupported',
      'merchantWalletUnknown',
      'chainUnsupported',
      'chainUnfitForCurrency',
      'chainNotStarted',
    ],
    verb: (ctx: Ctx, input) => createPaymentIntent(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/paymentIntents',
    operationId: 'listPaymentIntents',
    summary: 'List payment intents',
    description: 'Lists payment intents, newest first, without the ids of their payments.',
    tag,
    auth: 'apiKey',
    query: paymentIntentFilters,
    response: Type.Array(paymentIntentSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, input) => listPaymentIntents(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/paymentIntents/metadata/supportedCurrencies',
    operationId: 'listSupportedCurrencies',
    summary: 'List the supported currencies',
    description:
      'Lists the currencies that payment intents can receive, and the chains of this server that carry each.',
    tag,
    auth: 'apiKey',
    response: Type.Array(supportedCurrencySchema, { description: 'The currencies.' }),
    errors: [],
    verb: async (ctx: Ctx) => supportedCurrencies(ctx),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/paymentIntents/{id}',
    operationId: 'getPaymentIntent',
    summary: 'Get a payment intent',
    description: 'Returns one payment intent.',
    tag,
    auth: 'apiKey',
    params: paymentIntentParams,
    response: paymentIntentSchema,
    errors: ['paymentIntentNotFound'],
    verb: (ctx: Ctx, { params }) => getPaymentIntent(ctx, params.id),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/paymentIntents/{id}/expire',
    operationId: 'expirePaymentIntent',
    summary: 'Expire a payment intent',
    description:
      'Ends a transient payment intent. Money that arrives later is credited, but not matched with the intent.',
    tag,
    auth: 'apiKey',
    params: paymentIntentParams,
    response: paymentIntentSchema,
    errors: ['paymentIntentNotFound'],
    verb: (ctx: Ctx, { params }) => expirePaymentIntent(ctx, params.id),
  }),
]
