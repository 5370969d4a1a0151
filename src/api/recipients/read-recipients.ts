import type { Static } from 'typebox'
import { readAddress } from '#api/business/business-address'
import { addressBookChains, parseBusinessAddress } from '#chains/business-chains'
import type { Ctx } from '#engines/ctx'
import { findRecipient, findRecipients } from '#engines/treasury/address-book/index'
import { invalid, notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import type { recipientFilters } from './schema.ts'
import { showRecipient } from './show-recipient.ts'

export async function getRecipient(ctx: Ctx, id: string) {
  const recipient = await findRecipient(ctx.db, ctx.entity.id, id)
  if (!recipient) throw notFound('recipient', id, 'recipientNotFound')
  return showRecipient(recipient)
}

type Filters = Static<typeof recipientFilters>

export async function listRecipients(
  ctx: Ctx,
  { query, page }: { query: Filters; page: PageQuery },
): Promise<ListResult> {
  const address = query.address === undefined ? undefined : keptAddress(ctx, query.address, query.chain)
  const found = await findRecipients(ctx.db, ctx.entity.id, { ...query, address }, page)
  return { found, items: found.rows.map(showRecipient) }
}

/** The address in stored form: on the requested chain, or on the first chain where it is valid. */
function keptAddress(ctx: Ctx, text: string, chain: Filters['chain']): string {
  if (chain) return readAddress(ctx, chain, text)
  for (const candidate of addressBookChains) {
    const kept = parseBusinessAddress(candidate, text, ctx.entity.environment)
    if (kept !== undefined) return kept
  }
  throw invalid({
    at: 'address',
    reason: 'is not a valid address on any chain of the address book',
    value: text,
  })
}
