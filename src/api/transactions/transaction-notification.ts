import { findTransaction, states, type TransactionRow } from '#engines/transactions/index'
import type { TopicEvent, WebhookContent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showTransaction } from './schema.ts'

/** The fields that change with the state of a transaction, as the view `notified_resources` keeps them at each event. */
type Snapshot = Pick<
  TransactionRow,
  | 'state'
  | 'amounts'
  | 'sourceAddress'
  | 'contractAddress'
  | 'txHash'
  | 'blockHash'
  | 'blockHeight'
  | 'estimatedFee'
  | 'firstConfirmDate'
  | 'errorReason'
  | 'errorDetails'
> & { networkFee: string | null }

const typeOf = { INBOUND: 'transactions.inbound', OUTBOUND: 'transactions.outbound' } as const

/**
 * A transaction as its GET showed it in the state that the event names. Each state is reported, even one that is superseded
 * by now; events without a state, such as the request of a replacement, are not.
 */
export async function transactionNotification(
  db: Db,
  { entityId, resourceId, type, updateDate, snapshot }: TopicEvent,
): Promise<WebhookContent | undefined> {
  const state = states.find((each) => type === `transaction.${each.toLowerCase()}`)
  if (!state || !snapshot) return undefined
  const row = await findTransaction(db, { entityId }, resourceId)
  if (!row) return undefined
  const { networkFee, ...after } = snapshot as Snapshot
  if (after.state !== state) return undefined
  const screening = state === 'INITIATED' ? null : row.screening
  const fee = networkFee === null ? null : BigInt(networkFee)
  const shown = showTransaction({ ...row, ...after, state, screening, networkFee: fee, updateDate })
  return { notificationType: typeOf[row.transactionType], notification: shown }
}
