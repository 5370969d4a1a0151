import { tokenById } from '#engines/ledger/tokens/index'
import {
  findModularTransfer,
  findUserOperation,
  type ModularTransfer,
  type UserOperationRow,
} from '#engines/modular/index'
import type { TopicEvent, WebhookContent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showModularTransfer, showUserOperation } from './schema.ts'

/** Whether the resource was in the state that the event names. Each state is reported, even one that is superseded by now. */
const isOfState = ({ type }: TopicEvent, state: string) => type.split('.')[1] === state.toLowerCase()

/** A user operation as its GET showed it after the event. */
export async function userOperationNotification(
  db: Db,
  event: TopicEvent,
): Promise<WebhookContent | undefined> {
  const row = await findUserOperation(db, event.entityId, event.resourceId)
  const { snapshot, updateDate } = event
  if (!row || !snapshot) return undefined
  const { gasUsed, fee, ...after } = snapshot as Pick<
    UserOperationRow,
    'state' | 'txHash' | 'blockHash' | 'blockNumber' | 'blockTime' | 'errorReason' | 'errorDetails'
  > & { gasUsed: string | null; fee: string | null }
  if (!isOfState(event, after.state)) return undefined
  const amounts = { gasUsed: gasUsed && BigInt(gasUsed), fee: fee && BigInt(fee) }
  const shown = { ...row, ...after, ...(amounts as Pick<UserOperationRow, 'gasUsed' | 'fee'>), updateDate }
  return { notificationType: 'modularWallet.userOperation', notification: showUserOperation(shown) }
}

const typeOf = {
  INBOUND_TRANSFER: 'modularWallet.inboundTransfer',
  OUTBOUND_TRANSFER: 'modularWallet.outboundTransfer',
} as const

/** A transfer as its GET showed it after the event. */
export async function modularTransferNotification(
  db: Db,
  event: TopicEvent,
): Promise<WebhookContent | undefined> {
  const row = await findModularTransfer(db, event.entityId, event.resourceId)
  const { snapshot, updateDate } = event
  if (!row || !snapshot) return undefined
  const after = snapshot as Pick<ModularTransfer, 'state' | 'blockHash' | 'blockNumber' | 'blockTime'>
  const token = await tokenById(db, row.tokenId)
  if (!token || !isOfState(event, after.state)) return undefined
  const notification = showModularTransfer({ ...row, ...after, updateDate }, token)
  return { notificationType: typeOf[row.transferType], notification }
}
