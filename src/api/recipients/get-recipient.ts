import type { Ctx } from '#engines/ctx'
import { findRecipient } from '#engines/treasury/address-book/index'
import { notFound } from '#lib/errors'
import { showRecipient } from './show-recipient.ts'

export async function getRecipient(ctx: Ctx, id: string) {
  const recipient = await findRecipient(ctx.db, ctx.entity.id, id)
  if (!recipient) throw notFound('recipient', id, 'recipientNotFound')
  return showRecipient(recipient)
}
