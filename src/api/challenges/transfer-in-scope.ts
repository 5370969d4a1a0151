import { provisionalBalance } from '#api/sources/provisional-balance'
import { createTransfer, type TransferBody } from '#api/transactions/create-transfer'
import { transactionAsItIs } from '#api/transactions/created-once'
import { prepareTransfer } from '#api/transactions/register-token'
import { transferErrors } from '#api/transactions/transfer-errors'
import type { EntitySecret } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { endpoint } from '#runtime/http/endpoint'
import { createChallenge } from './create-challenge.ts'
import { scopedTransferAnswer, scopedTransferBody } from './schema.ts'
import { createTransactionChallenge } from './transaction-kinds.ts'
import type { PricedSummary } from './types.ts'

type ScopedBody = TransferBody & { entitySecretCiphertext?: string }

/** The result of `prepare`: the summary for the user, or the secret of the developer. */
type Prepared = { summary: PricedSummary } | { secret: EntitySecret }

async function prepare(ctx: Ctx, { body }: { body: ScopedBody }): Promise<Prepared> {
  if (ctx.user) return { summary: await createTransactionChallenge.check(ctx, requestOf(body)) }
  const { entitySecretCiphertext } = body
  if (entitySecretCiphertext !== undefined)
    return { secret: await prepareTransfer(ctx, { body: { ...body, entitySecretCiphertext } }) }
  const reason = 'is missing: send it, or the user who pays in X-User-Token'
  throw invalid({ at: 'entitySecretCiphertext', reason, error: 'required' })
}

const requestOf = (body: ScopedBody): TransferBody =>
  Object.fromEntries(
    Object.entries(body).filter(
      ([name]) => name !== 'entitySecretCiphertext' && Object.hasOwn(scopedTransferBody.properties, name),
    ),
  ) as TransferBody

export const transferInScope = endpoint({
  method: 'POST',
  path: '/v1/w3s/transactions/transfer',
  operationId: 'createTransferInScope',
  summary: 'Create a transfer for a user or developer',
  description:
    "With a user token, the same as POST /v1/w3s/user/transactions/transfer: a challenge of the user. Without one, the same as POST /v1/w3s/developer/transactions/transfer: it pays from the developer's wallets. Each shares the idempotency keys of the operation that it equals.",
  tag: 'Transactions',
  auth: 'apiKey',
  userToken: 'optional',
  body: scopedTransferBody,
  response: scopedTransferAnswer,
  status: 201,
  idempotent: {
    conflict: 'idempotencyKeyReused',
    operation: 'createTransfer',
    resourceIdOf: (made: { id: string } | { challengeId: string }) =>
      'id' in made ? made.id : made.challengeId,
    reload: async (ctx: Ctx, id: string) => (ctx.user ? { challengeId: id } : transactionAsItIs(ctx, id)),
  },
  errors: transferErrors,
  provisional: provisionalBalance,
  prepare,
  verb: (ctx: Ctx, { body }, prepared: Prepared) =>
    'secret' in prepared
      ? createTransfer(ctx, { body }, prepared.secret)
      : createChallenge(ctx, createTransactionChallenge, requestOf(body), prepared.summary),
})
