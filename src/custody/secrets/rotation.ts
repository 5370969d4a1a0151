import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import type { CustodyCtx, EntitySecret } from '../custody.ts'
import { walletPrivateKey, walletSetEntropy } from '../sealing/contexts.ts'
import { type SealContext, seal, type WalletKey, withUnsealed } from '../sealing/sealing.ts'
import { lockEntitySecret, replaceEntitySecret } from '../store/entity-secrets.ts'
import { lockWalletKeys, resealKeys, type Sealed } from '../store/keys.ts'
import { lockEntropies, resealEntropies } from '../store/wallet-sets.ts'
import { refusedCiphertext, type ShownSecret, spendFirst } from './entity-secret.ts'
import { makeRecoveryFile, openRecoveryFile } from './recovery-file.ts'

const batchSize = 500
const noId = '00000000-0000-0000-0000-000000000000'

/** Proof of the right to replace a secret: the secret itself, or its recovery file in base64. */
export type RotationProof = { secret: EntitySecret } | { recoveryFile: string }

/**
 * Replaces the entity secret and reseals every wallet key of the entity, all in `ctx.db`'s tx: either everything opens with
 * the new secret, or nothing has changed. The old recovery file is void. Requests that use a secret wait for the rotation; grants of
 * accepted requests stay valid, since they need no secret. Throws 156016 without a secret, and refuses a proof that is not valid.
 */
export async function rotateEntitySecret(
  ctx: CustodyCtx,
  proof: RotationProof,
  shown: ShownSecret,
): Promise<{ recoveryFile: string }> {
  const { db, entity, custody } = ctx
  const row = await lockEntitySecret(db, entity.id)
  if (!row) throw new ApiError('entitySecretMissing')
  const old = await oldKeyOf(ctx, proof, row.generation)
  await spendFirst(ctx, shown.opened.ciphertextSha256)
  const { walletKey } = shown.opened
  const entropies = await resealAll(db, entity.id, old, walletKey, {
    lock: lockEntropies,
    store: resealEntropies,
    contextOf: walletSetEntropy,
  })
  const keys = await resealAll(db, entity.id, old, walletKey, {
    lock: lockWalletKeys,
    store: resealKeys,
    contextOf: walletPrivateKey,
  })
  const generation = row.generation + 1
  const nowMs = ctx.clock.nowMs()
  await replaceEntitySecret(db, {
    entityId: entity.id,
    checkValue: shown.checkValue,
    generation,
    updateDate: formatInstant(nowMs),
  })
  await recordChanges(db, nowMs, [
    {
      entityId: entity.id,
      actor: ctx.actor,
      type: 'entitySecret.rotated',
      resourceId: entity.id,
      requestId: ctx.requestId,
      data: { generation, entropies, keys, by: 'secret' in proof ? 'secret' : 'recoveryFile' },
    },
  ])
  return { recoveryFile: makeRecoveryFile(custody.vault, entity.id, generation, walletKey) }
}

async function oldKeyOf(ctx: CustodyCtx, proof: RotationProof, generation: number): Promise<WalletKey> {
  if ('secret' in proof) {
    if (proof.secret.generation !== generation) throw refusedCiphertext()
    await spendFirst(ctx, proof.secret.ciphertextSha256)
    return proof.secret.walletKey
  }
  const key = openRecoveryFile(ctx.custody.vault, ctx.entity.id, generation, proof.recoveryFile)
  if (!key) throw new ApiError('recoveryFileInvalid')
  return key
}

/** Sealed values of one kind, which are read and written in batches by id. */
type SealedRows = {
  lock: (tx: Db, entityId: string, afterId: string, limit: number) => Promise<Sealed[]>
  store: (tx: Db, entityId: string, rows: readonly Sealed[]) => Promise<number>
  contextOf: (entityId: string, id: string) => SealContext
}

/** Seals the values again under the key `to`; returns their number. */
async function resealAll(
  tx: Db,
  entityId: string,
  from: WalletKey,
  to: WalletKey,
  { lock, store, contextOf }: SealedRows,
): Promise<number> {
  let count = 0
  for (let afterId = noId; ; ) {
    const rows = await lock(tx, entityId, afterId, batchSize)
    if (rows.length === 0) return count
    const resealed = rows.map(({ id, sealed }) => {
      const context = contextOf(entityId, id)
      return { id, sealed: withUnsealed(from, context, sealed, (plain) => seal(to, context, plain)) }
    })
    await store(tx, entityId, resealed)
    count += rows.length
    afterId = rows.at(-1)!.id
  }
}
