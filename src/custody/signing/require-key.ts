import { ApiError } from '#lib/errors'
import type { Db } from '#runtime/db/db'
import type { KeyOpener } from '../custody.ts'
import type { Decision } from '../policy/decide-policy.ts'
import { findKey, type KeyRow } from '../store/keys.ts'

/**
 * Returns the key that policy decided on. Throws 156001 unless `opener` is of the key's entity and, for the key of a user, of that
 * user. Platform keys are refused.
 */
export async function requireKeyOf(
  db: Db,
  { entityId, userId }: KeyOpener,
  decision: Decision,
): Promise<KeyRow> {
  const key = await findKey(db, entityId, decision.keyId)
  const isOpened = key !== undefined && key.class !== 'platform' && key.userId === (userId ?? null)
  if (!isOpened || entityId !== decision.entityId) throw new ApiError('walletNotFound')
  return key
}
