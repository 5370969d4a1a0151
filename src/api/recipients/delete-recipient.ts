import type { Ctx } from '#engines/ctx'
import { removeRecipient } from '#engines/treasury/address-book/index'
import { notFound } from '#lib/errors'

export async function deleteRecipient(ctx: Ctx, id: string): Promise<undefined> {
  const by = { entityId: ctx.entity.id, actor: ctx.actor, requestId: ctx.requestId }
  if (!(await removeRecipient(ctx, { ...by, id }))) throw notFound('recipient', id, 'recipientNotFound')
}
