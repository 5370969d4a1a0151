import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { applyRecipientChanges as change } from '#engines/treasury/address-book/index'
import { notFound } from '#lib/errors'
import { getRecipient } from './read-recipients.ts'
import type { recipientChangesSchema } from './schema.ts'
import { showRecipient } from './show-recipient.ts'

type ChangeRecipientInput = { params: { id: string }; body: Static<typeof recipientChangesSchema> }

/** Changes the metadata of a recipient. Absent members stay as they are; an empty string or null removes them. */
export async function changeRecipient(ctx: Ctx, { params: { id }, body }: ChangeRecipientInput) {
  if (!body.metadata) return getRecipient(ctx, id)
  const { nickname, email, bns } = body.metadata
  const changed = await change(ctx, {
    entityId: ctx.entity.id,
    actor: ctx.actor,
    requestId: ctx.requestId,
    id,
    metadata: {
      ...(nickname !== undefined && { nickname: nickname || null }),
      ...(email !== undefined && { email: email || null }),
      ...(bns !== undefined && { bns: bns || null }),
    },
  })
  if (!changed) throw notFound('recipient', id, 'recipientNotFound')
  return showRecipient(changed)
}
