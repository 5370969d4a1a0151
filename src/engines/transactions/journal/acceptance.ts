import { copySpending, restoreSpending } from '#custody/policy/index'
import type { EngineCtx } from '#engines/ctx'
import { copyHolds, restoreHolds } from '#engines/ledger/holds/index'
import type { Db } from '#runtime/db/db'
import { copyBindings, rebind, restoreBindings, type Twin } from '#runtime/idempotency/store'
import { raiseAlarm } from '#runtime/log/alarms'
import { failUnsentTransactions } from '../fail-unsent.ts'
import { inFlightIds, lockNeverSigned } from '../store/journal-copies.ts'
import type { Ref } from '../store/transactions.ts'
import type { JournalRecord } from './journal.ts'
import type { JournaledResources } from './resources.ts'

/**
 * The rows that the acceptance of an intent wrote besides its own: idempotency keys, spending that limits count, and holds.
 * `resources`: what it pays, or otherwise is made for; absent in records of earlier versions.
 */
type AcceptanceRows = { bindings: string[]; spending: string[]; holds: string[]; resources?: string[] }

/** `transaction`: its row as JSON text. */
type Signed = {
  entityId: string
  transactionId: string
  attemptId: string
  kind: string
  transaction: string
}

/** Returns the acceptance of each attempt as journal text. The first no-op of a nonce has the hold for all its no-ops. */
export async function copyAcceptance(
  db: Db,
  resources: JournaledResources,
  signed: readonly Signed[],
): Promise<(attempt: Signed) => string> {
  const refs = distinct(signed.map(refOf))
  const ofTreasuries = distinct(signed.filter(isOfTreasury).map(refOf))
  const holders = distinct(signed.map((attempt) => ({ entityId: attempt.entityId, id: holderOf(attempt) })))
  const asIntents = (rows: readonly Ref[]) =>
    rows.map(({ entityId, id: intentId }) => ({ entityId, intentId }))
  const [bindings, spending, holds, paid] = await Promise.all([
    copyBindings(db, refs),
    copySpending(db, asIntents(refs)),
    copyHolds(db, asIntents(holders)),
    ofTreasuries.length > 0 ? resources.copy(db, ofTreasuries) : [],
  ])
  const bound = copiesBy(bindings, ({ id }) => id)
  const spent = copiesBy(spending, ({ intentId }) => intentId)
  const held = copiesBy(holds, ({ intentId }) => intentId)
  const madeFor = copiesBy(paid, ({ id }) => id)
  return (attempt) => {
    const { transactionId } = attempt
    return JSON.stringify({
      bindings: bound.get(transactionId) ?? [],
      spending: spent.get(transactionId) ?? [],
      holds: held.get(holderOf(attempt)) ?? [],
      resources: madeFor.get(transactionId) ?? [],
    } satisfies AcceptanceRows)
  }
}

const refOf = ({ entityId, transactionId: id }: Signed): Ref => ({ entityId, id })

const isOfTreasury = ({ transaction }: Signed): boolean =>
  (JSON.parse(transaction) as { wallet_id: string | null }).wallet_id === null

const distinct = (refs: readonly Ref[]): Ref[] => [...new Map(refs.map((ref) => [ref.id, ref])).values()]

function copiesBy<Row extends { copy: string }>(rows: readonly Row[], keyOf: (row: Row) => string) {
  const copies = new Map<string, string[]>()
  for (const row of rows) copies.set(keyOf(row), [...(copies.get(keyOf(row)) ?? []), row.copy])
  return copies
}

const holderOf = ({ kind, attemptId, transactionId }: Signed) => (kind === 'noop' ? attemptId : transactionId)

/** The acceptance of a restored attempt. */
export type LostAcceptance = Pick<JournalRecord, 'entityId' | 'transactionId' | 'accepted'>

/**
 * Restores the keys, spending and holds of lost intents, in the lock order of requests: keys, limits, accounts; and what they
 * pay. Intents that ended meanwhile get no holds.
 */
export async function restoreAcceptance(
  tx: Db,
  ctx: EngineCtx,
  resources: JournaledResources,
  lost: readonly LostAcceptance[],
): Promise<void> {
  const accepted = lost.map((record) => ({ ...record, ...(JSON.parse(record.accepted) as AcceptanceRows) }))
  const twins = await restoreBindings(tx, [...new Set(accepted.flatMap(({ bindings }) => bindings))])
  await failDuplicates(tx, ctx, resources, twins)
  await restoreSpending(tx, [...new Set(accepted.flatMap(({ spending }) => spending))])
  const open = await inFlightIds(
    tx,
    lost.map(({ entityId, transactionId: id }) => ({ entityId, id })),
  )
  const holds = accepted.filter(({ transactionId }) => open.has(transactionId)).flatMap((row) => row.holds)
  await restoreHolds(tx, ctx.clock.nowMs(), holds)
  const copies = [...new Set(accepted.flatMap((row) => row.resources ?? []))]
  if (copies.length > 0) await resources.restore(tx, ctx.clock.nowMs(), copies)
}

/**
 * Fails the duplicates of requests that were repeated before their first acceptance was restored from a journal. A duplicate
 * that was signed already, because a journal had been declared lost, cannot be undone and raises an alarm.
 */
async function failDuplicates(
  tx: Db,
  ctx: EngineCtx,
  resources: JournaledResources,
  twins: readonly Twin[],
): Promise<void> {
  if (twins.length === 0) return
  const taken = twins.map(({ entityId, takenBy: id }) => ({ entityId, id }))
  // Locks them first: a worker that submits their transactions meanwhile has committed, or finds them failed.
  const unpaid = await resources.failUnpaid(tx, ctx.clock.nowMs(), taken)
  const unsigned = await lockNeverSigned(tx, taken)
  const signed = twins.filter(({ takenBy }) => !unsigned.has(takenBy) && !unpaid.has(takenBy))
  if (signed.length > 0)
    raiseAlarm(ctx.log, 'journal-conflict', { duplicates: signed }, 'these requests were executed twice')
  const ended = twins.filter(({ takenBy }) => unsigned.has(takenBy))
  await rebind(
    tx,
    twins.filter(({ takenBy }) => unsigned.has(takenBy) || unpaid.has(takenBy)),
  )
  await failUnsentTransactions(
    tx,
    ctx,
    ended.map(({ entityId, id, takenBy }) => ({
      entityId,
      id: takenBy,
      reason: 'INTERNAL_ERROR',
      details: `the same request was accepted as ${id} before the database was restored, and is executed as that`,
    })),
  )
}
