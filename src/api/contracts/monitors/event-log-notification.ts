import { findEventLog } from '#engines/indexer/events/index'
import type { TopicEvent, WebhookContent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { dataOf } from './event-log-data.ts'

/** A log when it was recorded, and again with `removed` when a reorg took its block out of the chain. */
export async function eventLogNotification(
  db: Db,
  { entityId, resourceId, type }: TopicEvent,
): Promise<WebhookContent | undefined> {
  const row = await findEventLog(db, entityId, resourceId)
  if (!row) return undefined
  const { contractAddress, blockchain, txHash, eventName, topics, id, blockHash, blockHeight } = row
  return {
    notificationType: 'contracts.eventLog',
    notification: {
      contractAddress,
      blockchain,
      txHash,
      userOpHash: '',
      eventName,
      topics,
      ...dataOf(row),
      id,
      blockHash,
      blockHeight,
      logIndex: String(row.logIndex),
      removed: type === 'eventLog.removed',
    },
  }
}
