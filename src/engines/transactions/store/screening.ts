import type { Evaluation } from '#engines/compliance/index'
import { formatInstant } from '#lib/time'
import { type Db, type Sql, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { isNotDeferred, type Turn, takeInTurns } from '#runtime/turns/store'
import { statesBefore } from '../states.ts'
import { isKnown } from './operations.ts'
import type { Ref } from './transactions.ts'

/** A transaction to screen: nothing is signed for it. */
export type UnscreenedTransaction = Ref & {
  /** Null for a treasury. */
  walletId: string | null
  callTo: string | null
  callValue: bigint
  callData: Buffer
  createDate: string
  /** The lists that it was screened against before; null for the first time. */
  screenedRevision: number | null
}

const unscreened = sql`q.transaction_type = 'OUTBOUND' and q.state = 'INITIATED' and q.screening is null`
const isOutdatedOf = (entityId: Sql, revision: number) =>
  sql`q.transaction_type = 'OUTBOUND' and q.state in ('CLEARED', 'QUEUED') and q.tx_hash is null
    and q.user_op_hash is null and q.screened_revision < ${revision} and not ${isKnown(entityId, sql`q.id`)}`

/** Accepted transactions that were never screened, oldest first; entities take turns. */
export const claimUnscreened = (db: Db, turn: Turn, blockchain: string, limit: number) =>
  claim(
    db,
    turn,
    (entityId) => sql`q.blockchain = ${blockchain} and ${unscreened}
      and ${isNotDeferred('screening', blockchain, entityId, sql`q.id::text`)}`,
    limit,
  )

/** Unsigned transactions that were cleared by an earlier revision of the lists, oldest first; entities take turns. */
export const claimOutdated = (db: Db, turn: Turn, blockchain: string, revision: number, limit: number) =>
  claim(
    db,
    turn,
    (entityId) => sql`q.blockchain = ${blockchain} and ${isOutdatedOf(entityId, revision)}`,
    limit,
  )

function claim<Claimed extends Ref = Ref>(
  db: Db,
  turn: Turn,
  isDueOf: (entityId: Sql) => Sql,
  limit: number,
  columns = sql``,
): Promise<Claimed[]> {
  const take = (entityId: string, max: number) =>
    db.all<Claimed>(sql`select q.entity_id, q.id${columns} from transactions q
      where q.entity_id = ${entityId} and ${isDueOf(sql`${entityId}`)} order by q.create_date, q.id limit ${max}`)
  const where = isDueOf(sql`q.entity_id`)
  return takeInTurns(db, turn, { from: sql`transactions q`, where, take }, limit)
}

const claimedColumns = sql`q.entity_id, q.id, q.wallet_id, q.call_to, q.call_value, q.call_data, q.create_date,
  case when q.screening is null then null else q.screened_revision end as screened_revision`

/** Reads the claimed transactions that were never screened, without a lock. */
export const unscreenedOf = (db: Db, refs: readonly Ref[]) =>
  db.all<UnscreenedTransaction>(sql`select ${claimedColumns}
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join transactions q on q.entity_id = n.e and q.id = n.i where ${unscreened}`)

/** Locks those of the claimed transactions that still wait for this screening and that no other worker has, oldest first. */
export async function lockUnscreened(
  tx: Db,
  refs: readonly Ref[],
  revision: number,
): Promise<UnscreenedTransaction[]> {
  const rows = await perEntity(refs, (entityId, own) =>
    tx.all<UnscreenedTransaction>(sql`select ${claimedColumns} from transactions q
    where q.entity_id = ${entityId} and q.id = any(${own.map((ref) => ref.id)}::uuid[])
      and ((${unscreened}) or (${isOutdatedOf(sql`${entityId}`, revision)}))
    order by q.create_date, q.id for update of q skip locked`),
  )
  const age = ({ createDate, id }: UnscreenedTransaction) => `${createDate} ${id}`
  return rows.sort((one, other) => (age(one) < age(other) ? -1 : 1))
}

export type Screened = Ref & { evaluation: Evaluation }

/** Records decisions without a change of state, for those that wait for an operator or are denied. */
export async function setEvaluations(
  tx: Db,
  nowMs: number,
  rows: readonly (Screened & { details: string })[],
  revision: number,
): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`update transactions t set screening = n.s::jsonb, screened_revision = ${revision},
      error_details = n.d, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => JSON.stringify(row.evaluation))}::text[], ${rows.map((row) => row.details)}::text[]) as n(e, i, s, d)
    where t.entity_id = n.e and t.id = n.i`)
}

export async function markCleared(
  tx: Db,
  nowMs: number,
  rows: readonly Screened[],
  revision: number,
): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`update transactions t set state = 'CLEARED', screening = n.s::jsonb,
      screened_revision = ${revision}, error_details = null, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => JSON.stringify(row.evaluation))}::text[]) as n(e, i, s)
    where t.entity_id = n.e and t.id = n.i and t.state = any(${[...statesBefore('CLEARED')]}::text[])`)
}

/** Locks a transaction under review that nothing ended meanwhile. */
export const lockReviewed = (tx: Db, { entityId, id }: Ref) =>
  tx.maybe<{ blockchain: string; transactionType: 'INBOUND' | 'OUTBOUND' }>(sql`select t.blockchain,
      t.transaction_type from transactions t
    where t.entity_id = ${entityId} and t.id = ${id} and case t.transaction_type
      when 'OUTBOUND' then t.state = 'INITIATED' else t.state in ('CONFIRMED', 'COMPLETE') end for update`)

/**
 * An operator's approval, also of a transaction that waits for the provider. The lists are consulted again before anything is
 * signed.
 */
export const clearReviewed = (tx: Db, nowMs: number, { entityId, id }: Ref, evaluation: Evaluation) =>
  tx.run(sql`update transactions set state = 'CLEARED', error_details = null,
      screening = coalesce(screening, ${JSON.stringify(evaluation)}::jsonb), update_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id} and state = any(${[...statesBefore('CLEARED')]}::text[])`)

/** Notes that later lists clear these transactions as well. */
export async function markClearedAgain(tx: Db, refs: readonly Ref[], revision: number): Promise<void> {
  if (refs.length === 0) return
  await tx.run(sql`update transactions t set screened_revision = ${revision}
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    where t.entity_id = n.e and t.id = n.i`)
}

export const markDenied = (tx: Db, nowMs: number, rows: readonly (Ref & { details: string })[]) =>
  tx.run(sql`update transactions t set state = 'DENIED', error_details = n.d, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.details)}::text[]) as n(e, i, d)
    where t.entity_id = n.e and t.id = n.i and t.state = any(${[...statesBefore('DENIED')]}::text[])`)

/** Received transfers whose wallets are to be frozen, oldest first; entities take turns. */
export const claimToFreeze = (db: Db, turn: Turn, blockchain: string, limit: number) =>
  claim<Ref & { walletId: string }>(
    db,
    turn,
    () => sql`q.blockchain = ${blockchain} and q.to_freeze`,
    limit,
    sql`, q.wallet_id`,
  )

/** False when another worker froze the wallet already. */
export const takeToFreeze = async (tx: Db, { entityId, id }: Ref): Promise<boolean> =>
  (await tx.run(sql`update transactions set to_freeze = false
    where entity_id = ${entityId} and id = ${id} and to_freeze`)) === 1
