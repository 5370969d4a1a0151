import { findBusinessTransfer, type TransferStatus } from '#engines/treasury/deposits/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { showBusinessTransfer } from './show-transfer.ts'

const statuses: readonly TransferStatus[] = ['pending', 'running', 'complete', 'failed']

/** A transfer in its state after the event. Each transition is reported, even one that is superseded by now. */
export async function transferNotification(
  db: Db,
  { entityId, resourceId, type, updateDate }: TopicEvent,
  { transferRunning: running }: Config,
) {
  const transfer = await findBusinessTransfer(db, entityId, resourceId)
  const status = statuses.find((each) => type === `transfer.${each}`)
  if (!transfer || !status || transfer.updateDate === updateDate)
    return transfer && showBusinessTransfer(transfer, { running })
  const before = {
    status,
    updateDate,
    ...(status !== 'failed' && { errorCode: null, riskReason: null, waiting: null }),
    ...(status === 'pending' && { transactionHash: null }),
  }
  return showBusinessTransfer({ ...transfer, ...before }, { running })
}
