import { recipientAddressHold, recipientHold } from '#engines/treasury/address-book/index'
import { bankAccountDecision, redemptionDecision } from '#engines/treasury/banking/index'
import { paymentIntentExpiry } from '#engines/treasury/payment-intents/index'
import { unifiedBalanceBurn } from '#engines/unified-balance/index'
import { webhookTimers } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import type { BusinessTimer, DueResource } from '#runtime/scheduling/business-timer'

/** Every timer of the engines: an advance stops at each of their dates. */
const businessTimers: readonly BusinessTimer[] = [
  paymentIntentExpiry,
  recipientHold,
  recipientAddressHold,
  bankAccountDecision,
  redemptionDecision,
  ...webhookTimers,
  unifiedBalanceBurn,
]

export type DueTimer = DueResource & { timer: string }

/** The next work of all timers, the earliest first; at most `limit` of each. */
export async function nextDue(db: Db, limit: number): Promise<readonly DueTimer[]> {
  const found = await Promise.all(
    businessTimers.map(async ({ name, next }) =>
      (await next(db, limit)).map((resource): DueTimer => ({ timer: name, ...resource })),
    ),
  )
  return found.flat().sort((a, b) => Date.parse(a.dueDate) - Date.parse(b.dueDate))
}
