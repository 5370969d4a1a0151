import type { TopicEvent, WebhookContent } from '#engines/webhooks/index'
import { parseInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { showChallenge } from './show-challenge.ts'
import { findChallengeOf } from './store.ts'
import { challengeTypes } from './types.ts'

/**
 * An ended challenge. No notification is sent for a challenge that was just made, nor for kinds without a notification type,
 * such as signatures.
 */
export async function challengeNotification(
  db: Db,
  { entityId, resourceId, type, updateDate }: TopicEvent,
): Promise<WebhookContent | undefined> {
  if (type === 'challenge.created') return undefined
  const row = await findChallengeOf(db, entityId, resourceId)
  const kind = row && challengeTypes[row.type]
  if (!kind) return undefined
  const notification = { ...showChallenge(row, parseInstant(updateDate)!), userId: row.userId }
  return { notificationType: `challenges.${kind}`, notification }
}
