import type { CustodyCtx, KeyOpener } from '../custody.ts'
import { familyOfKey } from '../families/index.ts'
import { type Decision, useDecision } from '../policy/decide-policy.ts'
import { walletPrivateKey } from '../sealing/contexts.ts'
import { withUnsealed } from '../sealing/sealing.ts'
import { requireKeyOf } from './require-key.ts'

/** Signs the payload that was decided on, in the request itself: no grant is stored, so it cannot be signed again. */
export async function signNow(ctx: CustodyCtx, opener: KeyOpener, decision: Decision): Promise<Buffer> {
  const { db, custody } = ctx
  const { entityId } = opener
  useDecision(db, decision)
  const key = await requireKeyOf(db, opener, decision)
  return withUnsealed(
    opener.walletKey,
    walletPrivateKey(entityId, key.id),
    key.sealedPrivateKey,
    (privateKey) => familyOfKey(key).sign(custody.signer, decision.intent, privateKey),
  )
}
