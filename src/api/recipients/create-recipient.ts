import type { Static } from 'typebox'
import { readAddress, readAddressTag } from '#api/business/business-address'
import type { Ctx } from '#engines/ctx'
import { addRecipient } from '#engines/treasury/address-book/index'
import type { newRecipientSchema } from './schema.ts'
import { showRecipient } from './show-recipient.ts'

const hourMs = 3_600_000

export async function createRecipient(ctx: Ctx, { body }: { body: Static<typeof newRecipientSchema> }) {
  const { chain, metadata } = body
  const recipient = await addRecipient(ctx, {
    entityId: ctx.entity.id,
    actor: ctx.actor,
    requestId: ctx.requestId,
    chain,
    address: readAddress(ctx, chain, body.address),
    addressTag: readAddressTag(chain, body.addressTag),
    nickname: metadata.nickname || null,
    email: metadata.email || null,
    bns: metadata.bns || null,
    holdMs: ctx.config.recipientHoldHours * hourMs,
  })
  return showRecipient(recipient)
}
