import { endpoint } from '#runtime/http/endpoint'
import { type FaucetCtx, payDrip, recordDrip } from './request-drip.ts'
import { dripSchema } from './schema.ts'

export const faucetEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/faucet/drips',
    operationId: 'requestTestnetTokens',
    summary: 'Pay test coins to any address',
    tag: 'Faucet',
    auth: 'apiKey',
    body: dripSchema,
    status: 204,
    errors: [
      'invalidRequest',
      'blockchainUnsupportedForOperation',
      'chainNotStarted',
      'chainUnfitForCurrency',
      'unauthorized',
      'forbidden',
      'unavailable',
    ],
    prepare: (ctx: FaucetCtx, { body }) => payDrip(ctx, body),
    verb: (ctx: FaucetCtx, { body }, hashes) => recordDrip(ctx, body, hashes),
  }),
]
