import { resolveHolds } from '#engines/ledger/holds/index'
import { post, walletEntries } from '#engines/ledger/index'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { actor } from '../act-for-entity.ts'
import { changeRefunded } from '../payment-intents/refund-payment-intents.ts'
import { type Disbursement, type DisbursementKind, type Ending, setEnding } from './store/disbursements.ts'

/**
 * Ends disbursements in the `tx` that locks their rows: a complete disbursement debits the merchant's wallet, a failed one
 * releases its hold. Returns the number of disbursements.
 */
export async function endDisbursements(
  tx: Db,
  nowMs: number,
  ended: readonly (Ending & { disbursement: Disbursement })[],
): Promise<number> {
  const at = formatInstant(nowMs)
  for (const { disbursement, ...ending } of ended) await setEnding(tx, disbursement, ending, at)
  await recordChanges(
    tx,
    nowMs,
    ended.map(({ disbursement, status, errorCode }) => ({
      entityId: disbursement.entityId,
      actor,
      type: eventOf(disbursement.kind, status),
      resourceId: disbursement.id,
      data: { status, ...(errorCode !== undefined && { errorCode }) },
    })),
  )
  await changeRefunded(
    tx,
    nowMs,
    ended.flatMap(({ disbursement, status }) =>
      disbursement.kind === 'refund' && status === 'failed' ? [disbursement] : [],
    ),
    -1n,
  )
  const paid = ended.filter(({ status }) => status === 'complete')
  await post(
    tx,
    nowMs,
    paid.map(({ disbursement: { kind, entityId, id, walletId, currency, amount } }) => ({
      entityId,
      blockchain: '',
      blockHash: '',
      fact: `${kind}:${id}`,
      entries: walletEntries(walletId, currency, -amount),
    })),
  )
  await resolveHolds(
    tx,
    nowMs,
    ended.map(({ disbursement: { entityId, id: intentId }, status }) => ({
      entityId,
      intentId,
      purpose: 'money' as const,
      outcome: status === 'complete' ? ('posted' as const) : ('voided' as const),
    })),
  )
  return ended.length
}

/**
 * Returns the event type of a disbursement's status. The API presents a refund as a payment, and a redemption whose coins have
 * left as pending: the bank completes it.
 */
export const eventOf = (kind: DisbursementKind, status: 'pending' | 'complete' | 'failed'): string => {
  if (kind === 'redemption' && status === 'complete') return 'redemption.redeemed'
  if (kind !== 'refund') return `${kind}.${status}`
  return status === 'complete' ? 'payment.paid' : `payment.${status}`
}
