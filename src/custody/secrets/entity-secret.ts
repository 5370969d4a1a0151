import { createHash, timingSafeEqual } from 'node:crypto'
import { parseBase64 } from '#lib/base64'
import { ApiError, invalid } from '#lib/errors'
import { formatInstant } from '#lib/time'
import type { CustodyCtx, EntitySecret } from '../custody.ts'
import { findEntitySecret, insertSpent, insertSpentOnce } from '../store/entity-secrets.ts'

const secretBytes = 32

/** The `prepare` step of an endpoint whose body carries `entitySecretCiphertext`. Its verb calls `spendCiphertext` first. */
export const openSecretOf = (ctx: CustodyCtx, input: { body: { entitySecretCiphertext: string } }) =>
  openEntitySecret(ctx, input.body.entitySecretCiphertext)

/**
 * Decrypts and checks a ciphertext without writing anything. Any invalid ciphertext gives the same error 156013, which
 * reveals nothing; 156016 when the entity has no secret. Reuse is detected by `spendCiphertext`.
 */
export async function openEntitySecret(ctx: CustodyCtx, ciphertext: string): Promise<EntitySecret> {
  const row = await findEntitySecret(ctx.db, ctx.entity.id)
  if (!row) throw new ApiError('entitySecretMissing')
  const isRight = (shown: ShownSecret) => timingSafeEqual(shown.checkValue, row.checkValue)
  const { opened } = await decryptSecret(ctx, ciphertext, usualField, isRight)
  return { ...opened, generation: row.generation }
}

const usualField = 'entitySecretCiphertext'

/** The only refusal of a ciphertext: it names the field, but not the cause. */
export const refusedCiphertext = (field = usualField) =>
  invalid({ at: field, reason: 'cannot be used', kind: 'entitySecretWrong' })

/** A secret that a ciphertext carried: what verifies it, and what it opens. */
export type ShownSecret = {
  /** `Vault.checkValueOf` the secret. */
  checkValue: Buffer
  opened: Omit<EntitySecret, 'generation'>
}

/**
 * Decrypts a ciphertext, in base64, to a secret of 32 bytes that `isRight` accepts. Otherwise throws 156013, which names `field` and
 * no cause. All refusals take the same steps.
 */
export async function decryptSecret(
  ctx: CustodyCtx,
  ciphertext: string,
  field = usualField,
  isRight: (shown: ShownSecret) => boolean = () => true,
): Promise<ShownSecret> {
  const bytes = parseBase64(ciphertext)
  const ciphertextSha256 = createHash('sha256')
    .update(bytes ?? '')
    .digest()
  const read = (plain: Buffer | undefined): ShownSecret | undefined => {
    const isWellFormed = plain?.length === secretBytes
    // Zeros take the same work and are discarded.
    const shown = showSecret(ctx, isWellFormed ? plain : Buffer.alloc(secretBytes), ciphertextSha256)
    return isRight(shown) && isWellFormed ? shown : undefined
  }
  const shown = await ctx.custody.transport.decrypt(ctx.entity.id, bytes, read)
  if (!shown) throw refusedCiphertext(field)
  return shown
}

function showSecret(
  { custody: { vault }, entity }: CustodyCtx,
  secret: Buffer,
  ciphertextSha256: Buffer,
): ShownSecret {
  const walletKey = vault.walletKeyOf(entity.id, secret)
  return {
    checkValue: vault.checkValueOf(entity.id, secret),
    opened: { entityId: entity.id, walletKey, ciphertextSha256 },
  }
}

/**
 * Marks the ciphertext as used in `ctx.db`'s tx, keyed on its decoded bytes; throws 156004 when it was used before. A request that
 * is refused later marks it as well, through `ctx.afterRollback`; with an idempotency key it may be sent again with the same
 * bytes, whatever its first answer was. Called inside the verb, after the key is claimed, so that a duplicate replays.
 */
export async function spendCiphertext(ctx: CustodyCtx, secret: EntitySecret): Promise<void> {
  const spent = spentOf(ctx, secret.ciphertextSha256)
  ctx.afterRollback.push(() => spendAnyway(ctx, spent))
  const outcome = await insertSpent(ctx.db, spent, secret.generation)
  if (outcome === 'outdated') throw refusedCiphertext()
  if (outcome === 'used') throw new ApiError('ciphertextReused')
}

/** Marks a ciphertext as used where a secret is registered or rotated. Throws 156004 when it was used before, by any request. */
export async function spendFirst(ctx: CustodyCtx, ciphertextSha256: Buffer): Promise<void> {
  const spent = spentOf(ctx, ciphertextSha256)
  ctx.afterRollback.push(() => spendAnyway(ctx, spent))
  if (!(await insertSpentOnce(ctx.db, spent))) throw new ApiError('ciphertextReused')
}

const spentOf = (ctx: CustodyCtx, sha256: Buffer) => ({
  entityId: ctx.entity.id,
  sha256,
  request: ctx.requestDigest,
  createDate: formatInstant(ctx.clock.nowMs()),
})

/** Marks the ciphertext after a rollback. A failure is only logged, because the client must see the refusal itself. */
async function spendAnyway(ctx: CustodyCtx, spent: Parameters<typeof insertSpentOnce>[1]): Promise<void> {
  await insertSpentOnce(ctx.database, spent).catch((error) =>
    ctx.log.error({ err: error, requestId: ctx.requestId }, 'a shown ciphertext could not be marked as used'),
  )
}
