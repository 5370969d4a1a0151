import { createHash, timingSafeEqual } from 'node:crypto'
import { parseBase64 } from '#lib/base64'
import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { sqlState } from '#runtime/db/db'
import type { EntitySecret } from './custody.ts'
import {
  type EntitySecretRow,
  findEntitySecret,
  insertSpent,
  insertSpentOnce,
} from './store/entity-secrets.ts'
import type { CustodyCtx } from './types.ts'

const secretBytes = 32

/** `prepare` of an endpoint whose body carries `entitySecretCiphertext`. The verb calls `spendCiphertext` first. */
export const openSecretOf = (ctx: CustodyCtx, input: { body: { entitySecretCiphertext: string } }) =>
  openEntitySecret(ctx, input.body.entitySecretCiphertext)

/**
 * Decrypts and checks a ciphertext without writing anything. Whatever is wrong with it, the answer is the same 156013,
 * so that it tells nothing; 156016 when the entity has no secret. Whether it was used before, `spendCiphertext` decides.
 */
export async function openEntitySecret(ctx: CustodyCtx, ciphertext: string): Promise<EntitySecret> {
  const row = await findEntitySecret(ctx.db, ctx.entity.id)
  if (!row) throw new ApiError('entitySecretMissing')
  return secretFrom(ctx, ciphertext, row)
}

/** The same against a row that the caller has read. */
export async function secretFrom(
  ctx: CustodyCtx,
  ciphertext: string,
  row: EntitySecretRow,
): Promise<EntitySecret> {
  const shown = await decryptSecret(ctx, ciphertext)
  const right = timingSafeEqual(shown.checkValue, row.checkValue)
  if (!shown.wellFormed || !right) throw new ApiError('entitySecretWrong')
  return { ...shown.opened, generation: row.generation }
}

export type ShownSecret = {
  /** False when the ciphertext gave no 32 bytes; `opened` is then made from zeros and must not be used. */
  wellFormed: boolean
  checkValue: Buffer
  opened: Omit<EntitySecret, 'generation'>
}

/** Decrypts a ciphertext whose secret is not known yet. */
export async function decryptSecret(ctx: CustodyCtx, ciphertext: string): Promise<ShownSecret> {
  const { vault, transport } = ctx.custody
  const bytes = parseBase64(ciphertext)
  const plain = await transport.decrypt(bytes)
  const wellFormed = plain?.length === secretBytes
  const secret = wellFormed ? plain : Buffer.alloc(secretBytes)
  try {
    return {
      wellFormed,
      checkValue: vault.checkValueOf(ctx.entity.id, secret),
      opened: {
        entityId: ctx.entity.id,
        walletKey: vault.walletKeyOf(ctx.entity.id, secret),
        ciphertextSha256: createHash('sha256')
          .update(bytes ?? '')
          .digest(),
      },
    }
  } finally {
    plain?.fill(0)
  }
}

/**
 * Uses the ciphertext up in `ctx.db`'s tx, keyed on its decoded bytes: 156004 when it was used before.
 * A request that is refused later uses it up as well, through `ctx.afterRollback`.
 * It is called inside the verb, after the idempotency key was claimed, so that a twin replays instead of being refused.
 */
export async function spendCiphertext(ctx: CustodyCtx, secret: EntitySecret): Promise<void> {
  const spent = spentOf(ctx, secret.ciphertextSha256)
  ctx.afterRollback.push(() => spendAnyway(ctx, spent))
  try {
    const current = await insertSpent(ctx.db, spent, secret.generation)
    if (!current) throw new ApiError('entitySecretWrong')
  } catch (error) {
    if (sqlState(error) === uniqueViolation) throw new ApiError('ciphertextReused')
    throw error
  }
}

/** Uses up the ciphertext of a secret that is only now being registered. */
export async function spendFirst(ctx: CustodyCtx, ciphertextSha256: Buffer): Promise<void> {
  const spent = spentOf(ctx, ciphertextSha256)
  ctx.afterRollback.push(() => spendAnyway(ctx, spent))
  if (!(await insertSpentOnce(ctx.db, spent))) throw new ApiError('ciphertextReused')
}

const uniqueViolation = '23505'

const spentOf = (ctx: CustodyCtx, sha256: Buffer) => ({
  entityId: ctx.entity.id,
  sha256,
  createDate: formatInstant(ctx.clock.nowMs()),
})

/** The refusal itself is what the client must see, so a failure here is only logged. */
async function spendAnyway(ctx: CustodyCtx, spent: Parameters<typeof insertSpentOnce>[1]): Promise<void> {
  await insertSpentOnce(ctx.database, spent).catch((error) =>
    ctx.log.error({ err: error, requestId: ctx.requestId }, 'a shown ciphertext could not be marked as used'),
  )
}
