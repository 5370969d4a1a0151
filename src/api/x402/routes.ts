import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import {
  paymentBody,
  settledSchema,
  settlementBody,
  statusParams,
  statusSchema,
  supportedSchema,
  verifiedSchema,
} from './schema.ts'
import { readX402Status, settleX402, supportedX402, verifyX402 } from './settle-payment.ts'

/** Servers of x402 read these answers as they are. Nothing is held while a request waits for a node or a block. */
const shared = { tag: 'x402', auth: 'apiKey', enveloped: false } as const

export const x402Endpoints = [
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/facilitator/x402/supported',
    operationId: 'listX402Kinds',
    summary: 'List what is settled by x402',
    description:
      'Lists the schemes and networks on which this key settles payments in USDC and EURC: `exact` by EIP-3009 and by Permit2, and `upto`.',
    response: supportedSchema,
    errors: [],
    verb: (ctx: Ctx) => supportedX402(ctx),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v1/facilitator/x402/verify',
    operationId: 'verifyX402Payment',
    summary: 'Verify a payment by x402',
    description:
      'Checks a signed payment against what a seller requires, by a simulation on a node. A refused payment is a success of HTTP with `isValid` false.',
    changing: false,
    body: paymentBody,
    response: verifiedSchema,
    errors: ['unavailable'],
    verb: (ctx: Ctx, { body }) => verifyX402(ctx, body),
  }),
  endpoint({
    ...shared,
    method: 'POST',
    path: '/v1/facilitator/x402/settle',
    operationId: 'settleX402Payment',
    summary: 'Settle a payment by x402',
    description:
      'Settles a signed payment once, and waits for its block: up to 20 seconds, and no longer than `maxTimeoutSeconds`. The same payment is never sent twice, and one delivery alone is answered that it is settled. `settlement_pending` is no failure.',
    changing: false,
    acts: true,
    body: settlementBody,
    response: settledSchema,
    errors: ['unavailable', 'chainHalted'],
    verb: (ctx: Ctx, { body }) => settleX402(ctx, body),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: '/v1/facilitator/x402/status/{paymentId}',
    operationId: 'getX402Payment',
    summary: 'Get a payment by x402',
    description: 'Returns how a payment of this account stands.',
    params: statusParams,
    response: statusSchema,
    errors: ['signedPaymentNotFound'],
    verb: (ctx: Ctx, { params }) => readX402Status(ctx, params.paymentId),
  }),
]
