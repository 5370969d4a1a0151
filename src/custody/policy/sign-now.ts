import { ApiError } from '#lib/errors'
import { walletPrivateKey } from '../contexts.ts'
import type { CustodyCtx, EntitySecret } from '../custody.ts'
import { familyOfKey } from '../families.ts'
import { withUnsealed } from '../sealing.ts'
import { findKey } from '../store/keys.ts'
import { type Decision, useDecision } from './decide-policy.ts'

/** Signs the payload that was decided on, in the request itself: no grant is stored, so it cannot be signed again. */
export async function signNow(ctx: CustodyCtx, secret: EntitySecret, decision: Decision): Promise<Buffer> {
  const { db, custody } = ctx
  const { entityId } = secret
  useDecision(db, decision)
  const key = await findKey(db, entityId, decision.keyId)
  if (key?.class !== 'wallet' || entityId !== decision.entityId) throw new ApiError('walletNotFound')
  return withUnsealed(
    secret.walletKey,
    walletPrivateKey(entityId, key.id),
    key.sealedPrivateKey,
    (privateKey) => familyOfKey(key).sign(custody.signer, decision.intent, privateKey),
  )
}
