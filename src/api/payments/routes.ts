import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { getPayment, listPayments } from './read-payments.ts'
import { refundPaymentIntent } from './refund-payment-intent.ts'
import { paymentFilters, paymentParams, paymentSchema, refundParams, refundSchema } from './schema.ts'

const tag = 'Payments'

export const paymentEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/payments',
    operationId: 'listPayments',
    summary: 'List payments',
    description: 'Lists payments and refunds, newest first.',
    tag,
    auth: 'apiKey',
    query: paymentFilters,
    response: Type.Array(paymentSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, input) => listPayments(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/payments/{id}',
    operationId: 'getPayment',
    summary: 'Get a payment',
    description: 'Returns one payment or refund.',
    tag,
    auth: 'apiKey',
    params: paymentParams,
    response: paymentSchema,
    errors: ['paymentNotFound'],
    verb: (ctx: Ctx, { params }) => getPayment(ctx, params.id),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/paymentIntents/{id}/refund',
    operationId: 'refundPaymentIntent',
    summary: 'Refund a payment intent',
    description:
      'Pays money of a payment intent back, all or part of it, from the funds of the account. Returns the refund, a payment whose type is `refund`.',
    tag,
    auth: 'apiKey',
    params: refundParams,
    body: refundSchema,
    response: paymentSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (refund: { id: string }) => refund.id,
      reload: (ctx: Ctx, id) => getPayment(ctx, id),
    },
    errors: [
      'paymentIntentNotFound',
      'paymentAmountNotPositive',
      'paymentIntentNotRefundable',
      'refundExceedsPayments',
      'addressUnfitForChain',
      'addressUnpayable',
      'chainUnsupported',
      'chainUnfitForCurrency',
      'chainNotStarted',
      'payoutFundsInsufficient',
      'policyDenied',
    ],
    verb: (ctx: Ctx, input) => refundPaymentIntent(ctx, input),
  }),
]
