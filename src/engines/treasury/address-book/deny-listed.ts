import { screenedBusinessAddress } from '#chains/business-chains'
import { type ScreeningScope, screenSubjects } from '#engines/compliance/index'
import { environmentsOf } from '#runtime/auth/store'
import { denyRecipients, type Recipient } from './store/recipients.ts'

/**
 * Denies those of the recipients that a rule denies. Returns all of them with their statuses. A rule that asks for a review
 * leaves it to the payouts, of which each is screened by itself.
 */
export async function denyListedRecipients(
  scope: ScreeningScope,
  recipients: readonly Recipient[],
  at: string,
): Promise<readonly Recipient[]> {
  if (recipients.length === 0) return recipients
  const environments = await environmentsOf(
    scope.db,
    recipients.map(({ entityId }) => entityId),
  )
  const decisions = await screenSubjects(
    scope,
    recipients.map(({ entityId, chain, address }) => ({
      ...screenedBusinessAddress(chain, address),
      text: address,
      isTest: environments.get(entityId) === 'TEST',
    })),
  )
  const isDenied = (_: Recipient, index: number) => decisions[index]!.actions.includes('DENY')
  const denied = recipients.filter(isDenied)
  if (denied.length > 0) await denyRecipients(scope.db, denied, at)
  return recipients.map((each, index) => (isDenied(each, index) ? { ...each, status: 'denied' } : each))
}
