import type { Order } from './store/orders.ts'

/** The code of the travel rule among the reasons for which a payment is denied. */
const travelRule = '3220'
/** The code for what the operator does not allow. */
export const blockedByOperator = '3000'

/**
 * From these amounts on the sender has to be named, in base units: 3,000 dollars. A euro has not been worth more than 1.25
 * dollars for many years, and who is asked a little too early loses nothing.
 */
const identitiesFrom = new Map([
  ['USD', 3_000_000_000n],
  ['EUR', 2_400_000_000n],
])

/** Where every payout names its sender. */
const alwaysNamed = ['SG', 'FR']

/** Why an order must not be paid by an entity of this country, as the code that its owner sees; `undefined` when nothing speaks against it. */
export function denialOf({ currency, amount, identified }: Order, entityCountry: string): string | undefined {
  const from = alwaysNamed.includes(entityCountry) ? 0n : (identitiesFrom.get(currency) ?? 0n)
  return amount >= from && !identified ? travelRule : undefined
}
