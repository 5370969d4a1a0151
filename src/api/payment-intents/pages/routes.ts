import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { paymentIntentParams } from '../schema.ts'
import { newPaymentPageSchema, pageTokenParams, paymentPageSchema, shownPaymentPageSchema } from './schema.ts'
import { getPaymentPage, setPaymentPage } from './set-payment-page.ts'
import { showPaymentPage } from './show-payment-page.ts'

const tag = 'Payment intents'

export const paymentPageEndpoints = [
  endpoint({
    method: 'PUT',
    path: '/v1/paymentIntents/{id}/page',
    operationId: 'setPaymentPage',
    summary: 'Set the payment page of an intent',
    description:
      'Gives a payment intent a page on which a customer pays it, and returns its link. A repeated request replaces the contents; the link, and the addresses that were given out, stay.',
    tag,
    auth: 'apiKey',
    params: paymentIntentParams,
    body: newPaymentPageSchema,
    response: paymentPageSchema,
    errors: [
      'paymentIntentNotFound',
      'paymentIntentEnded',
      'chainUnsupported',
      'chainUnfitForCurrency',
      'chainNotStarted',
    ],
    verb: (ctx: Ctx, input) => setPaymentPage(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/paymentIntents/{id}/page',
    operationId: 'getPaymentPage',
    summary: 'Get the payment page of an intent',
    description: 'Returns the contents and the link of the page of a payment intent.',
    tag,
    auth: 'apiKey',
    params: paymentIntentParams,
    response: paymentPageSchema,
    errors: ['paymentPageNotFound'],
    verb: (ctx: Ctx, { params }) => getPaymentPage(ctx, params.id),
  }),
  endpoint({
    method: 'GET',
    path: '/page/payments/{token}',
    operationId: 'showPaymentPage',
    summary: 'Get what a payment page shows',
    description:
      'Returns what a customer sees of a payment intent. The token in the link of the page is the permission: no API key is sent.',
    tag: 'Pages',
    auth: 'none',
    params: pageTokenParams,
    response: shownPaymentPageSchema,
    errors: ['paymentPageNotFound'],
    verb: (ctx: Ctx, { params }) => showPaymentPage(ctx, params.token),
  }),
]
