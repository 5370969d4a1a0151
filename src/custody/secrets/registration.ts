import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import type { CustodyCtx, CustodyScope } from '../custody.ts'
import { startPermissive } from '../policy/set-policy.ts'
import { findEntitySecret, insertEntitySecret } from '../store/entity-secrets.ts'
import { type ShownSecret, spendFirst } from './entity-secret.ts'
import { makeRecoveryFile } from './recovery-file.ts'

/** Registers the entity's first secret in `ctx.db`'s tx. Throws 156015 when it has one, 156004 when the ciphertext was used before. */
export async function registerEntitySecret(
  ctx: CustodyCtx,
  shown: ShownSecret,
): Promise<{ recoveryFile: string }> {
  const entityId = ctx.entity.id
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  if (!(await insertEntitySecret(ctx.db, { entityId, checkValue: shown.checkValue, createDate })))
    throw new ApiError('entitySecretAlreadySet')
  await spendFirst(ctx, shown.opened.ciphertextSha256)
  await recordChanges(ctx.db, nowMs, [
    {
      entityId,
      actor: ctx.actor,
      type: 'entitySecret.registered',
      resourceId: entityId,
      requestId: ctx.requestId,
    },
  ])
  return { recoveryFile: makeRecoveryFile(ctx.custody.vault, entityId, 1, shown.opened.walletKey) }
}

/**
 * Registers a known secret (64 hexadecimal digits) for an entity and gives it the permissive policy, as the sandbox does.
 * Idempotent. `current` is false when the entity's secret has been rotated since.
 */
export async function seedSandboxEntity(
  scope: CustodyScope,
  { entityId, secretHex }: { entityId: string; secretHex: string },
): Promise<{ current: boolean }> {
  if (!/^[0-9a-f]{64}$/i.test(secretHex)) throw new Error('an entity secret is 64 hexadecimal digits')
  const secret = Buffer.from(secretHex, 'hex')
  const checkValue = scope.custody.vault.checkValueOf(entityId, secret)
  const createDate = formatInstant(scope.clock.nowMs())
  await insertEntitySecret(scope.db, { entityId, checkValue, createDate })
  await startPermissive(scope, entityId)
  const row = await findEntitySecret(scope.db, entityId)
  return { current: row !== undefined && timingSafeEqual(row.checkValue, checkValue) }
}
