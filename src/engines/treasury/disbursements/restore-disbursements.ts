/**
 * Disbursements in the journals of transactions: a database that was restored from an older copy gets them again together
 * with the transactions that pay them, which then decide how they end (docs/decisions/0084).
 */
import { placeHolds } from '#engines/ledger/holds/index'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { actor } from '../act-for-entity.ts'
import { copyRecipients, restoreRecipients } from '../address-book/store/recipients.ts'
import { addRefund } from '../payment-intents/refund-payment-intents.ts'
import { copyIntents, type IntentKey, lockPaymentIntents, restoreIntents } from '../payment-intents/store.ts'
import { endDisbursements, eventOf } from './end-disbursements.ts'
import { failureOf } from './settle-disbursements.ts'
import {
  copyDisbursements,
  type Disbursement,
  type DisbursementKind,
  type DisbursementRef,
  disbursementKinds,
  lockUnpaid,
  restoreDisbursements,
} from './store/disbursements.ts'

/** A copy as `copyPaid` makes it. Amounts are read by the database alone, which keeps every digit. */
type PaidCopy = {
  kind: DisbursementKind
  row: { entity_id: string; payment_intent_id?: string | null; recipient_id?: string | null }
}

const intentOf = ({ row }: PaidCopy): IntentKey => ({ entityId: row.entity_id, id: row.payment_intent_id! })

/** Returns the disbursements of these transactions, the intents of refunds and the recipients of payouts, as JSON texts. */
export async function copyPaid(
  db: Db,
  transactions: readonly DisbursementRef[],
): Promise<{ id: string; copy: string }[]> {
  const found = (await copyDisbursements(db, transactions)).map((row) => ({
    ...row,
    parsed: JSON.parse(row.copy) as PaidCopy,
  }))
  const named = (column: 'payment_intent_id' | 'recipient_id', kind: DisbursementKind) =>
    found.flatMap(({ id, parsed: { kind: its, row } }) =>
      its === kind && row[column] ? [{ transactionId: id, entityId: row.entity_id, id: row[column] }] : [],
    )
  const refunds = named('payment_intent_id', 'refund')
  const payouts = named('recipient_id', 'payout')
  const [intents, recipients] = await Promise.all([
    refunds.length > 0 ? copyIntents(db, refunds) : [],
    payouts.length > 0 ? copyRecipients(db, payouts) : [],
  ])
  const besides = (names: typeof refunds, copies: readonly { id: string; copy: string }[]) =>
    names.flatMap(({ transactionId, id: named }) =>
      copies.filter(({ id }) => id === named).map(({ copy }) => ({ id: transactionId, copy })),
    )
  return [
    ...found.map(({ id, copy }) => ({ id, copy })),
    ...besides(refunds, intents),
    ...besides(payouts, recipients),
  ]
}

/**
 * Restores missing disbursements under way, with their holds whatever their merchants have, and counts refunds in their
 * intents. Recipients that were added after the copy are in the address book again.
 */
export async function restorePaid(tx: Db, nowMs: number, copies: readonly string[]): Promise<void> {
  const parsed = copies.map((copy) => ({ copy, ...(JSON.parse(copy) as { kind: string }) }))
  const textsOf = (kind: string) => parsed.filter((each) => each.kind === kind).map(({ copy }) => copy)
  const refunds = textsOf('refund')
  await restoreIntents(tx, textsOf('paymentIntent'))
  await restoreRecipients(tx, textsOf('recipient'))
  // Locked before their refunds refer to them, as requests do.
  await lockPaymentIntents(
    tx,
    refunds.map((copy) => intentOf(JSON.parse(copy))),
  )
  const restored: Disbursement[] = []
  for (const kind of disbursementKinds) {
    const texts = textsOf(kind)
    if (texts.length > 0) restored.push(...(await restoreDisbursements(tx, kind, texts)))
  }
  await recordChanges(
    tx,
    nowMs,
    restored.map(({ kind, entityId, id: resourceId }) => {
      const data = { status: 'pending', reason: 'restored from a journal' }
      return { entityId, actor, type: eventOf(kind, 'pending'), resourceId, data }
    }),
  )
  for (const { entityId, id, paymentIntentId, amount } of restored.filter(({ kind }) => kind === 'refund')) {
    const [intent] = await lockPaymentIntents(tx, [{ entityId, id: paymentIntentId! }])
    await addRefund(tx, nowMs, intent!, amount, { actor, requestId: id })
  }
  const holds = restored.map(({ entityId, id: intentId, walletId: address, currency, amount }) => {
    return { entityId, address, currency, intentId, purpose: 'money' as const, amountAtomic: amount }
  })
  await placeHolds(tx, nowMs, holds, { regardless: true })
}

/**
 * Fails disbursements that have no transaction yet. Returns their ids, and those of disbursements that failed before without
 * one.
 */
export async function failUnpaid(
  tx: Db,
  nowMs: number,
  refs: readonly DisbursementRef[],
): Promise<Set<string>> {
  const unpaid: (Disbursement & { status: string })[] = []
  for (const kind of disbursementKinds) unpaid.push(...(await lockUnpaid(tx, kind, refs)))
  const waiting = unpaid.filter(({ status }) => status === 'pending')
  await endDisbursements(
    tx,
    nowMs,
    waiting.map(({ status: _, ...disbursement }) => ({
      disbursement,
      status: 'failed' as const,
      ...failureOf(disbursement.kind, 'FAILED', null),
    })),
  )
  return new Set(unpaid.map(({ id }) => id))
}
