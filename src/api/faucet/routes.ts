import type { SandboxCtx } from '#api/sandbox-ctx'
import { endpoint } from '#runtime/http/endpoint'
import { payDrip, recordDrip } from './request-drip.ts'
import { dripSchema } from './schema.ts'

export const faucetEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/faucet/drips',
    operationId: 'requestTestnetTokens',
    summary: 'Request test coins',
    description: 'Pays test coins on a local chain of a sandbox to any address. Available in a sandbox only.',
    tag: 'Faucet',
    auth: 'apiKey',
    body: dripSchema,
    status: 204,
    errors: ['blockchainUnsupportedForOperation', 'chainNotStarted', 'chainUnfitForCurrency'],
    prepare: (ctx: SandboxCtx, { body }) => payDrip(ctx, body),
    verb: (ctx: SandboxCtx, { body }, hashes) => recordDrip(ctx, body, hashes),
  }),
]
