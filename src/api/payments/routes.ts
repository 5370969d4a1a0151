import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { getPayment } from './get-payment.ts'
import { listPayments } from './list-payments.ts'
import { paymentFilters, paymentParams, paymentSchema } from './schema.ts'

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
    errors: ['paymentNotFound', 'idNotUuid', 'unauthorized'],
    verb: (ctx: Ctx, { params }) => getPayment(ctx, params.id),
  }),
]
