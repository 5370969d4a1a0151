import { canonicalTxId } from '#chains/addresses/canonical'
import { askAgain, messageByNonce } from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { announceWork } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'
import { askToReattest, attestationServiceOf } from './attestation-service.ts'

/** Has the service that answers for other domains attest a message that this server does not have; `undefined` without one. */
export async function reattestElsewhere(ctx: Ctx, givenNonce: string) {
  const nonce = canonicalTxId(givenNonce)
  const service = attestationServiceOf(ctx)
  if (service === undefined || (await messageByNonce(ctx.db, nonce))) return undefined
  return askToReattest(service, nonce)
}

/**
 * Asks for an attestation without an end, in place of one that has expired or will, or whose attesters were replaced. No key is
 * needed, so a repetition signs nothing, and so does a request for a message that has one.
 */
export async function reattest(ctx: Ctx, givenNonce: string) {
  const nonce = canonicalTxId(givenNonce)
  const asked = await askAgain(ctx, nonce)
  if (asked) await announceWork(ctx.db, asked.blockchain)
  const message = await messageByNonce(ctx.db, nonce)
  if (!message) throw new ApiError('messageNotFound')
  if (message.state !== 'complete' || message.receivedTxHash !== null)
    throw new ApiError('messageNotAttested')
  return {
    message: message.reattest
      ? 'The message is attested again once its block is final.'
      : 'The attestation of the message has no end.',
    nonce,
  }
}
