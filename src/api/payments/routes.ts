import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { getPayment } from './get-payment.ts'
import { listPayments } from './list-payments.ts'
import { refundPaymentIntent } from './refund-payment-intent.ts'
import { paymentFilters, paymentParams, paymentSchema, refundSchema } from './schema.ts'

const tag = 'Payments'

export const paymentEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/payments',
    operationId: 'listPayments',
    summary: 'List payments: stablecoins that arrived at the addresses of payment intents',
    tag,
    auth: 'apiKey',
    query: paymentFilters,
    response: Type.Array(paymentSchema),
    collection: businessCollection,
    errors: ['invalidRequest', 'cursorNotFound', 'cursorNotUuid', 'unauthorized'],
    verb: (ctx: Ctx, input) => listPayments(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/payments/{id}',
    operationId: 'getPayment',
    summary: 'Get a payment',
    tag,
    auth: 'apiKey',
    params: paymentParams,
    response: paymentSchema,
    errors: ['paymentNotFound', 'invalidRequest', 'unauthorized'],
    verb: (ctx: Ctx, { params }) => getPayment(ctx, params.id),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/paymentIntents/{id}/refund',
    operationId: 'refundPaymentIntent',
    summary: 'Refund money of a payment intent, whole or in parts',
    tag,
    auth: 'apiKey',
    params: paymentParams,
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
      'invalidRequest',
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
      'unauthorized',
      'conflict',
    ],
    verb: (ctx: Ctx, input) => refundPaymentIntent(ctx, input),
  }),
]
