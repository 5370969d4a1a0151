import type { Ctx } from '#engines/ctx'
import { removeRecipient } from '#engines/treasury/index'
import { invalid } from '#lib/errors'

export async function deleteRecipient(ctx: Ctx, id: string): Promise<undefined> {
  const by = { entityId: ctx.entity.id, actor: ctx.actor, requestId: ctx.requestId }
  if (!(await removeRecipient(ctx, { ...by, id })))
    throw invalid('id', 'names no recipient of yours', id, 'recipientNotFound')
}
