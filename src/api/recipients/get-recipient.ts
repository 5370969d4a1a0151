import type { Ctx } from '#engines/ctx'
import { findRecipient } from '#engines/treasury/index'
import { invalid } from '#lib/errors'
import { showRecipient } from './show-recipient.ts'

export async function getRecipient(ctx: Ctx, id: string) {
  const recipient = await findRecipient(ctx.db, ctx.entity.id, id)
  if (!recipient) throw invalid('id', 'names no recipient of yours', id, 'recipientNotFound')
  return showRecipient(recipient)
}
