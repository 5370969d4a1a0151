import { findTransfer, type TransferStatus } from '#engines/treasury/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { showTransfer } from './show-transfer.ts'

const steps: readonly TransferStatus[] = ['pending', 'running', 'complete']

/** A transfer as it was after the event: each transition is told, also one that was over before anybody could look. */
export async function tellTransfer(
  db: Db,
  { entityId, resourceId, type }: TopicEvent,
  { transferRunning: running }: Config,
) {
  const transfer = await findTransfer(db, entityId, resourceId)
  if (!transfer) return undefined
  const step = steps.find((status) => type === `transfer.${status}`)
  const isPast = step !== undefined && steps.indexOf(step) < steps.indexOf(transfer.status)
  const then = isPast ? { ...transfer, status: step } : transfer
  return showTransfer(step === 'pending' ? { ...then, transactionHash: null } : then, { running })
}
