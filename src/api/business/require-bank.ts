import type { BankRail } from '#engines/bank-rail'
import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'

/** The bank that serves the key of this request, or the documented error. */
export function requireBank({ bank, entity }: Ctx): BankRail {
  if (bank?.environment === entity.environment) return bank
  throw new ApiError(
    'forbidden',
    `Forbidden: no bank is connected to this server for ${entity.environment} keys. The operator connects one with BEZANT_BANK_RAIL.`,
  )
}
