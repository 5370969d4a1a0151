import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { type Change, recordChanges } from '#runtime/record/store'
import { actor } from '../act-for-entity.ts'
import { type PaymentIntent, updatePaymentIntents } from './store.ts'
import type { TimelineEntry } from './timeline.ts'

/** A changed intent, and the entry to add to its timeline. */
export type IntentChange = {
  intent: PaymentIntent
  entry?: TimelineEntry | undefined
  /** An event in addition to that of the entry. */
  type?: string
  by?: { actor: string; requestId: string }
}

/** Writes changed intents and records their events. Returns the intents. */
export async function saveIntents(
  tx: Db,
  nowMs: number,
  changes: readonly IntentChange[],
): Promise<PaymentIntent[]> {
  if (changes.length === 0) return []
  const changed = changes.map(({ intent, entry }) => ({
    ...intent,
    ...(entry && {
      status: entry.status,
      context: entry.context ?? null,
      timeline: [entry, ...intent.timeline],
    }),
    updateDate: formatInstant(nowMs),
  }))
  const saved = await updatePaymentIntents(tx, changed)
  const events = changes.flatMap(({ intent, entry, type, by = { actor } }): Change[] => {
    const { entityId, id: resourceId } = intent
    const change = { entityId, ...by, resourceId }
    return [
      ...(type ? [{ ...change, type, data: { amountPaid: String(intent.amountPaid) } }] : []),
      ...(entry ? [{ ...change, type: `paymentIntent.${entry.status}`, data: entry }] : []),
    ]
  })
  await recordChanges(tx, nowMs, events)
  return saved
}
