import type { Static } from 'typebox'
import { type Freeze, findFreeze, freeze, freezesPage, unfreeze } from '#custody/freezes/index'
import { findWallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { walletUnknown } from '../sources/source.ts'
import type { freezeFilters } from './policy-schema.ts'

export async function listFreezes(
  ctx: Ctx,
  { scope }: Static<typeof freezeFilters>,
  page: PageQuery,
): Promise<ListResult> {
  const found = await freezesPage(ctx.db, ctx.entity.id, scope, page)
  return { found, items: found.rows.map(showFreeze) }
}

/** Freezes the entity or a wallet. What is frozen already stays so, since the same date. */
export async function freezeSubject(ctx: Ctx, id = ctx.entity.id) {
  const subject = await requireSubject(ctx, id, 'subjectId')
  await freeze(ctx, subject)
  return showFreeze((await findFreeze(ctx.db, subject.entityId, subject.walletId))!)
}

/** Unfreezes the entity or a wallet. What is not frozen stays so. */
export async function unfreezeSubject(ctx: Ctx, id = ctx.entity.id): Promise<void> {
  await unfreeze(ctx, await requireSubject(ctx, id, 'id'))
}

/** The entity itself, or its wallet of this id. Throws 156001, which names `field`. */
async function requireSubject({ db, entity }: Ctx, text: string, field: string) {
  const id = text.toLowerCase()
  if (id === entity.id) return { entityId: entity.id }
  if (!(await findWallet(db, { entityId: entity.id }, id))) throw walletUnknown({ [field]: text })
  return { entityId: entity.id, walletId: id }
}

const showFreeze = ({ id, scope, blockchain, address, createDate }: Freeze) => ({
  id,
  scope,
  ...(blockchain !== null && { blockchain }),
  ...(address !== null && { address }),
  createDate,
})
