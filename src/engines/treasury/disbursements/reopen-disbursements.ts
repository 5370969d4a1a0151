import type { Step } from '#engines/indexer/index'
import { observedTransactionsOf } from '#engines/indexer/observed/index'
import { placeHolds } from '#engines/ledger/holds/index'
import { post, walletEntries } from '#engines/ledger/index'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { actor } from '../act-for-entity.ts'
import { changeRefunded } from '../payment-intents/refund-payment-intents.ts'
import type { SentTransaction } from '../store/platform-transactions.ts'
import { reopenSweeps } from '../sweeping/store.ts'
import { eventOf } from './end-disbursements.ts'
import {
  type DisbursementKind,
  disbursementKinds,
  lockDisbursementsOf,
  setUnderWay,
} from './store/disbursements.ts'

/**
 * Reopens disbursements and sweeps that ended in a block that a reorg removed before it was final, or on a local chain.
 * Completed disbursements are credited back to the merchant's wallet, and all reopened disbursements are held again. The
 * same transactions are sent again and decide the outcome again.
 */
export async function reopenDisbursements(tx: Db, nowMs: number, step: Step): Promise<void> {
  const { blockchain, blockHash } = step
  const sent = await observedTransactionsOf(tx, blockchain, blockHash)
  if (sent.length === 0) return
  const sweeps = await reopenSweeps(tx, blockchain, sent, formatInstant(nowMs))
  const data = { status: 'pending' }
  await recordChanges(
    tx,
    nowMs,
    sweeps.map(({ entityId, id }) => ({ entityId, actor, type: 'sweep.pending', resourceId: id, data })),
  )
  for (const kind of disbursementKinds) await reopen(tx, nowMs, blockchain, kind, sent)
}

async function reopen(
  tx: Db,
  nowMs: number,
  blockchain: string,
  kind: DisbursementKind,
  sent: readonly SentTransaction[],
): Promise<void> {
  const ended = (await lockDisbursementsOf(tx, kind, blockchain, sent)).filter(
    (disbursement) => disbursement.ended !== null,
  )
  if (ended.length === 0) return
  for (const disbursement of ended) await setUnderWay(tx, disbursement, formatInstant(nowMs))
  await recordChanges(
    tx,
    nowMs,
    ended.map(({ entityId, id: resourceId }) => {
      const type = kind === 'transfer' ? 'transfer.running' : eventOf(kind, 'pending')
      return { entityId, actor, type, resourceId, data: { reason: 'its block was orphaned' } }
    }),
  )
  const failed = ended.filter((disbursement) => disbursement.ended === 'failed')
  if (kind === 'refund') await changeRefunded(tx, nowMs, failed, 1n)
  await post(
    tx,
    nowMs,
    ended
      .filter((disbursement) => disbursement.ended === 'complete')
      .map(({ entityId, id, walletId, currency, amount }) => ({
        entityId,
        blockchain: '',
        blockHash: '',
        fact: `${kind}:${id}:orphaned`,
        entries: walletEntries(walletId, currency, amount),
      })),
  )
  const holds = ended.map(({ entityId, id: intentId, walletId: address, currency, amount }) => {
    return { entityId, address, currency, intentId, purpose: 'money' as const, amountAtomic: amount }
  })
  await placeHolds(tx, nowMs, holds, { regardless: true })
}
