import { ApiError, notFound } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import type { CustodyCtx, EntitySecret, KeyOpener, UserKey } from '../custody.ts'
import { walletSetEntropy } from '../sealing/contexts.ts'
import { seal } from '../sealing/sealing.ts'
import { newEntropy } from '../signing/seed.ts'
import { findWalletSet, insertWalletSet, lockedSetCount, renameWalletSet } from '../store/wallet-sets.ts'
import type { WalletSet } from './types.ts'

/** Maximum number of wallet sets of an entity, without those of its users. */
export const walletSetsMax = 1_000

/** Creates a wallet set with a random seed, sealed under entity secret and root key. Refuses it at `walletSetsMax`. */
export async function createWalletSet(
  ctx: CustodyCtx,
  secret: EntitySecret,
  { name }: { name?: string | undefined },
): Promise<WalletSet> {
  const { db, entity } = ctx
  if ((await lockedSetCount(db, entity.id)) >= walletSetsMax) {
    throw new ApiError('forbidden', `An entity may have at most ${walletSetsMax} wallet sets.`)
  }
  return addSet(ctx, secret, name)
}

/** Creates the wallet set of a user, sealed under the user's key. A user has one. */
export const addUserWalletSet = (ctx: CustodyCtx, userKey: UserKey): Promise<WalletSet> =>
  addSet(ctx, userKey, undefined)

async function addSet(ctx: CustodyCtx, opener: KeyOpener, name: string | undefined): Promise<WalletSet> {
  const { db, entity } = ctx
  const nowMs = ctx.clock.nowMs()
  const id = newId(nowMs)
  const entropy = newEntropy()
  const sealedEntropy = seal(opener.walletKey, walletSetEntropy(entity.id, id), entropy)
  entropy.fill(0)
  await insertWalletSet(db, {
    entityId: entity.id,
    id,
    userId: opener.userId ?? null,
    name: name || null,
    sealedEntropy,
    createDate: formatInstant(nowMs),
  })
  await recordChange(ctx, nowMs, 'walletSet.created', id)
  return (await findWalletSet(db, entity.id, id))!
}

/** Renames a wallet set; an empty name clears the name. Throws 156005 when the entity has no such set. */
export async function updateWalletSet(
  ctx: CustodyCtx,
  id: string,
  { name }: { name?: string | undefined },
): Promise<WalletSet> {
  const nowMs = ctx.clock.nowMs()
  const renamed = await renameWalletSet(ctx.db, ctx.entity.id, id, name || null, formatInstant(nowMs))
  if (!renamed) throw notFound('wallet set', id, 'walletSetNotFound')
  await recordChange(ctx, nowMs, 'walletSet.updated', id)
  return renamed
}

const recordChange = (ctx: CustodyCtx, nowMs: number, type: string, resourceId: string) =>
  recordChanges(ctx.db, nowMs, [
    { entityId: ctx.entity.id, actor: ctx.actor, type, resourceId, requestId: ctx.requestId },
  ])
