import type { Static } from 'typebox'
import { type Freeze, findFreeze, freeze, freezesPage, unfreeze } from '#custody/freezes/index'
import type { Ctx } from '#engines/ctx'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
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
  const subject = subjectOf(ctx, id)
  await freeze(ctx, subject)
  return showFreeze((await findFreeze(ctx.db, subject.entityId, subject.walletId))!)
}

/** Unfreezes the entity or a wallet. What is not frozen stays so. */
export async function unfreezeSubject(ctx: Ctx, id = ctx.entity.id): Promise<void> {
  await unfreeze(ctx, subjectOf(ctx, id))
}

const subjectOf = ({ entity }: Ctx, text: string) => {
  const id = text.toLowerCase()
  return { entityId: entity.id, walletId: id === entity.id ? undefined : id }
}

const showFreeze = ({ id, scope, blockchain, address, createDate }: Freeze) => ({
  id,
  scope,
  ...(blockchain !== null && { blockchain }),
  ...(address !== null && { address }),
  createDate,
})
