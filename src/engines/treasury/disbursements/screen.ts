import type { Disbursement } from './store/disbursements.ts'

/** The risk reason code for the travel rule. */
const travelRule = '3220'
/** The risk reason code for payments that the operator's policy denies. */
export const blockedByOperator = '3000'

/**
 * Minimum amounts that require an identified sender, in base units: 3,000 dollars. A euro has not been worth more than 1.25
 * dollars for many years, and asking a little too early does no harm.
 */
const identitiesFrom = new Map([
  ['USD', 3_000_000_000n],
  ['EUR', 2_400_000_000n],
])

/** Countries in which every payout must identify its sender. */
const alwaysNamed = ['SG', 'FR']

/**
 * Returns the risk reason code for which an entity of this country must not pay the disbursement, as shown to its owner, or
 * `undefined`.
 */
export function riskReasonOf(
  { currency, amount, identified }: Pick<Disbursement, 'currency' | 'amount' | 'identified'>,
  entityCountry: string,
): string | undefined {
  const from = alwaysNamed.includes(entityCountry) ? 0n : (identitiesFrom.get(currency) ?? 0n)
  return amount >= from && !identified ? travelRule : undefined
}
