import type { Static } from 'typebox'
import type { ScreeningChain } from '#chains/screening-chains'
import {
  findScreening,
  parseSubject,
  type Screening,
  screenAddress as screen,
} from '#engines/compliance/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import type { screenAddressBody } from './schema.ts'
import { showScreening } from './show-screening.ts'

export async function createAddressScreening(ctx: Ctx, body: Static<typeof screenAddressBody>) {
  const id = body.idempotencyKey.toLowerCase()
  const subject = requireSubject(body.chain, body.address)
  return inBothForms(await screen(ctx, { id, chain: body.chain, subject }))
}

export function requireSubject(chain: ScreeningChain, text: string) {
  const subject = parseSubject(chain, text)
  if (subject) return subject
  const reason = `is no address of ${chain}: send it in the form of that chain, with a valid checksum`
  throw invalid({
    at: 'address',
    reason,
    value: text,
    kind: 'screeningAddressInvalid',
    error: 'pattern_mismatch',
  })
}

export async function reloadScreening(ctx: Ctx, id: string) {
  const found = await findScreening(ctx.db, ctx.entity.id, id)
  if (!found) throw new Error(`the screening ${id} is bound to a key and does not exist`)
  return inBothForms(found)
}

function inBothForms(found: Screening) {
  const screening = showScreening(found)
  return { ...screening, data: screening }
}
