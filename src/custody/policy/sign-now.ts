import { ApiError } from '#lib/errors'
import { walletPrivateKey } from '../contexts.ts'
import type { CustodyCtx, EntitySecret } from '../custody.ts'
import { withUnsealed } from '../sealing.ts'
import { findKey } from '../store/keys.ts'
import type { EcdsaSignature } from '../types.ts'
import { type Decision, useDecision } from './decide.ts'

/** Signs the digest that was decided on, in the request itself: no grant is stored, so it cannot be signed again. */
export async function signNow(
  ctx: CustodyCtx,
  secret: EntitySecret,
  decision: Decision,
): Promise<EcdsaSignature> {
  const { db, custody } = ctx
  const { entityId } = secret
  useDecision(db, decision)
  if (decision.intent.length !== 32) throw new Error('what is signed at once is decided on by its digest')
  const key = await findKey(db, entityId, decision.keyId)
  if (key?.class !== 'wallet' || entityId !== decision.entityId) throw new ApiError('walletNotFound')
  return withUnsealed(
    secret.walletKey,
    walletPrivateKey(entityId, key.id),
    key.sealedPrivateKey,
    (privateKey) => custody.signer.sign(decision.intent, privateKey),
  )
}
