import type { CustodyCtx, KeyOpener } from '../custody.ts'
import { familyOfKey } from '../families/index.ts'
import { type Decision, useDecision } from '../policy/decide-policy.ts'
import { walletPrivateKey } from '../sealing/contexts.ts'
import { withUnsealed } from '../sealing/sealing.ts'
import { requireKeyOf } from './require-key.ts'

/**
 * Signs `decision.intent` within the request and stores no grant, so that nothing can sign it again later. The signature has the
 * form of the key's family; throws 156001 when `opener` may not open the key.
 */
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
