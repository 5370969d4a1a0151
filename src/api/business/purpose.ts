import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import type { ErrorName } from '#lib/error-kinds'
import { invalid } from '#lib/errors'

/** The payment reason codes of the interface. PMT006, a transfer to an own account, is none of payouts and payment intents. */
const purposes = Array.from({ length: 31 }, (_, number) => `PMT${String(number).padStart(3, '0')}`).filter(
  (code) => code !== 'PMT006',
)

/** The purpose of a payment. A request with another code is refused with this error. */
export const purposeField = (error: ErrorName) =>
  Type.Optional(
    Type.Enum(purposes, {
      description:
        'The payment reason code, from PMT000 (others) to PMT030 without PMT006. It is kept and shown; required where the country of the server is SG.',
      '~error': error,
    }),
  )

export const shownPurposeField = Type.Optional(
  Type.String({ description: 'The payment reason code of the request; absent without one.' }),
)

/** Requires the purpose where the law of the operator's country does. Returns the purpose, `null` without one. */
export function requirePurpose(
  { config }: Pick<Ctx, 'config'>,
  purpose: string | undefined,
  kind: ErrorName,
): string | null {
  if (purpose === undefined && config.entityCountry === 'SG')
    throw invalid({
      at: 'purposeOfTransfer',
      reason: 'is missing: send a payment reason code, such as PMT001',
      kind,
      error: 'required',
    })
  return purpose ?? null
}

export const showPurpose = ({ purposeOfTransfer }: { purposeOfTransfer: string | null }) =>
  purposeOfTransfer === null ? {} : { purposeOfTransfer }
