import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { signatureBody, signatureSchema } from './schema.ts'
import { prepareSignature, signProposedMessage } from './sign-message.ts'

/** The operation of an attester that another server asks; it is no part of the API. */
export const attesterEndpoints = [
  endpoint({
    method: 'POST',
    path: '/signatures',
    operationId: 'signMessage',
    summary: 'Sign a message',
    description:
      'Signs a cross-chain message that this attester has seen by itself, as its own rules allow. The same request gets the same signature.',
    tag: 'Messages',
    auth: 'apiKey',
    body: signatureBody,
    response: signatureSchema,
    errors: ['messageNotDue', 'signatureRefused'],
    prepare: (ctx: Ctx, { body }) => prepareSignature(ctx, body),
    verb: (ctx: Ctx, { body }, agreement) => signProposedMessage(ctx, body, agreement),
  }),
]
