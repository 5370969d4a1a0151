import type { Static } from 'typebox'
import { readAddress, readAddressTag, requireCurrency } from '#api/business/business-address'
import { checkIdentity } from '#api/identity'
import type { Ctx } from '#engines/ctx'
import { addRecipientAddress } from '#engines/treasury/address-book/index'
import type { newRecipientAddressSchema } from './schema.ts'
import { showRecipientAddress } from './show-recipient-address.ts'

const hourMs = 3_600_000

/** Countries whose entities must know the owner of every address that they send to. */
const identityCountries = ['FR', 'SG']

export async function createRecipientAddress(
  ctx: Ctx,
  { body }: { body: Static<typeof newRecipientAddressSchema> },
) {
  const { chain, description, identity, ownership } = body
  const address = readAddress(ctx, chain, body.address)
  const addressTag = readAddressTag(chain, body.addressTag)
  const currency = requireCurrency(ctx, chain, body.currency || (chain === 'BTC' ? 'BTC' : 'USD'))
  if (identity) checkIdentity(identity, 'identity')
  const stored = await addRecipientAddress(ctx, {
    entityId: ctx.entity.id,
    actor: ctx.actor,
    requestId: ctx.requestId,
    chain,
    address,
    addressTag,
    currency,
    description,
    identity: identity ?? null,
    ownership: ownership ?? null,
    needsIdentity: !identity && identityCountries.includes(ctx.config.entityCountry),
    holdMs: ctx.config.recipientHoldHours * hourMs,
  })
  return showRecipientAddress(stored)
}
