import { formatInstant } from '#lib/time'
import { type Db, type Sql, sql } from '#runtime/db/db'
import { isNotDeferred, type Turn, takeInTurns } from '#runtime/turns/store'
import type { State } from '../states.ts'
import type { NewAttempt } from './attempts.ts'
import { isKnown } from './operations.ts'
import { announceWork, type Ref } from './transactions.ts'

export type ReplacementKind = 'bump' | 'cancel'

/**
 * Records the owner's request to bump or cancel a transaction, for a worker to process. False when its state does not allow
 * it.
 */
export async function setReplacementRequest(
  tx: Db,
  nowMs: number,
  blockchain: string,
  row: Ref,
  requested: ReplacementKind,
): Promise<boolean> {
  const from = requested === 'bump' ? ['SENT', 'STUCK'] : ['QUEUED', 'SENT', 'STUCK']
  const written =
    await tx.run(sql`update transactions set requested_replacement = ${requested}, update_date = ${formatInstant(nowMs)}
    where entity_id = ${row.entityId} and id = ${row.id} and tx_hash is not null and state = any(${from}::text[])
      and (${requested === 'cancel'} or (requested_replacement is distinct from 'cancel' and not exists (select 1 from attempts a
        where a.entity_id = ${row.entityId} and a.transaction_id = ${row.id} and a.kind = 'cancel'
          and a.state in ('signed', 'sent'))))`)
  if (written > 0) await announceWork(tx, blockchain)
  return written > 0
}

/** Cancels for the owner: the transaction ends as FAILED with this reason when its cancel transaction is mined. */
export async function cancelRefused(
  tx: Db,
  nowMs: number,
  blockchain: string,
  row: Ref,
  reason: string,
  details: string,
): Promise<void> {
  await tx.run(sql`update transactions set requested_replacement = 'cancel', error_reason = ${reason},
      error_details = ${details.slice(0, 1000)}, update_date = ${formatInstant(nowMs)}
    where entity_id = ${row.entityId} and id = ${row.id} and state in ('QUEUED', 'SENT', 'STUCK')
      and requested_replacement is distinct from 'cancel'`)
  await announceWork(tx, blockchain)
}

/** Requests a higher price for the last attempt, of any kind, unless another request is pending. */
export async function requestBumps(
  tx: Db,
  nowMs: number,
  blockchain: string,
  rows: readonly Ref[],
): Promise<void> {
  await tx.run(sql`update transactions t set requested_replacement = 'bump', update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[]) as n(e, i)
    where t.entity_id = n.e and t.id = n.i and t.state in ('QUEUED', 'SENT', 'STUCK') and t.requested_replacement is null`)
  await announceWork(tx, blockchain)
}

/**
 * The price of an attempt. `isFixed`: the owner of the transaction set the price; `isApproved`: its user approved
 * the fee that this price makes, and no higher one.
 */
type AttemptFee = {
  id: string
  maxFeeAtomic: bigint
  priorityFeeAtomic: bigint
  isFixed: boolean
  isApproved: boolean
}

export const attemptFees = (db: Db, refs: readonly Ref[]) =>
  db.all<AttemptFee>(sql`select a.id, a.max_fee as max_fee_atomic, a.priority_fee as priority_fee_atomic,
      a.kind = 'original' and t.fee_level is null and t.max_fee is not null as is_fixed,
      a.kind = 'original' and t.fee_max is not null as is_approved
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join attempts a on a.entity_id = n.e and a.id = n.i
    join transactions t on t.entity_id = a.entity_id and t.id = a.transaction_id`)

/** Cancels a transaction that nothing was signed for. False when it is no longer in the queue. */
export const cancelUnsigned = async (tx: Db, nowMs: number, { entityId, id }: Ref): Promise<boolean> =>
  (await tx.run(sql`update transactions t set state = 'CANCELLED', error_details = null,
      update_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id} and transaction_type = 'OUTBOUND' and tx_hash is null
      and user_op_hash is null and not ${isKnown(sql`${entityId}`, sql`t.id`)}
      and state in ('INITIATED', 'CLEARED', 'QUEUED')`)) > 0

/** A transaction with a pending request, and the last of its attempts that a node may hold. */
export type ReplacementRequest = Ref & {
  requested: ReplacementKind
  state: State
  /** Null of a treasury's. */
  walletId: string | null
  address: string
  callTo: string | null
  callValue: bigint
  callData: Buffer
  attemptId: string
  /** The treasury that pays the fee; null where the sender does. */
  feePayer: string | null
  kind: NewAttempt['kind']
  nonce: number
  gasLimit: bigint
  maxFee: bigint
  priorityFee: bigint
  /** The coins that the transaction takes from the payer of its fee beside it. */
  depositAtomic: bigint
  /** Of bytes that expire; null for all others. */
  expiresMs: number | null
  lastHeight: number | null
  signedAt: number | null
  /** The proof that no block can have them, as JSON. */
  deathProof: string | null
  updateDate: string
}

/** The attempt `a` of the transaction `t` that a node may hold. */
const isInFlight = sql`a.entity_id = t.entity_id and a.transaction_id = t.id and a.state in ('signed', 'sent')
  and a.kind <> 'noop'`

const replaceable = sql`select t.entity_id, t.id, t.requested_replacement as requested, t.state, t.wallet_id, t.address,
    t.call_to, t.call_value, t.call_data, t.fee_payer, a.id as attempt_id, a.kind, a.nonce, a.gas_limit, a.max_fee, a.priority_fee,
    coalesce(a.deposit, 0) as deposit_atomic, a.expires_ms::float8 as expires_ms, a.last_height::float8 as last_height,
    a.signed_at::float8 as signed_at, a.death_proof::text as death_proof, t.update_date
  from transactions t
  join attempts a on ${isInFlight}`

/**
 * Whether what replaces the attempt may be signed: in the place of bytes that expire, pools take no other call before, and nothing
 * else takes the place of bytes that live up to a height.
 */
const isReplaceable = sql`(a.death_proof is not null or (a.last_height is null
  and (t.requested_replacement = 'bump' or a.kind = 'cancel' or a.expires_ms is null)))`

/** Pending requests of addresses that are not deferred; entities take turns. */
export function replacementRequests(
  db: Db,
  turn: Turn,
  blockchain: string,
  limit: number,
): Promise<ReplacementRequest[]> {
  const isDueOf = (entityId: Sql) => sql`t.blockchain = ${blockchain} and t.requested_replacement is not null
    and ${isNotDeferred(turn.queue, blockchain, entityId, sql`t.address`)}`
  const where = sql`${isDueOf(sql`t.entity_id`)} and exists (select 1 from attempts a where ${isInFlight} and ${isReplaceable})`
  const take = (entityId: string, max: number) =>
    db.all<ReplacementRequest>(sql`${replaceable}
      where t.entity_id = ${entityId} and ${isDueOf(sql`${entityId}`)} and ${isReplaceable} order by t.address, a.nonce limit ${max}`)
  return takeInTurns(db, turn, { from: sql`transactions t`, where, take }, limit)
}

/** Reads a request again, locking the attempt before the transaction, in the lock order of block processing. */
export async function lockReplacementRequest(
  tx: Db,
  row: ReplacementRequest,
): Promise<ReplacementRequest | undefined> {
  await tx.run(
    sql`select 1 from attempts where entity_id = ${row.entityId} and id = ${row.attemptId} for no key update`,
  )
  return tx.maybe<ReplacementRequest>(sql`${replaceable} where t.entity_id = ${row.entityId} and t.id = ${row.id}
    and t.requested_replacement is not null and a.id = ${row.attemptId} for no key update of t`)
}

/** Clears a request that is done or impossible. */
export const clearReplacementRequest = (tx: Db, { entityId, id }: Ref) =>
  tx.run(
    sql`update transactions set requested_replacement = null where entity_id = ${entityId} and id = ${id}`,
  )

/** Clears the requests of transactions that ended meanwhile. */
export const clearOutdatedRequests = (db: Db, blockchain: string) =>
  db.run(sql`update transactions set requested_replacement = null
    where blockchain = ${blockchain} and requested_replacement is not null and state not in ('QUEUED', 'SENT', 'STUCK')`)

/** Sets the hash of a transaction to that of its replacement and clears the request. */
export const recordReplacement = (tx: Db, nowMs: number, { entityId, id }: Ref, txHash: string) =>
  tx.run(sql`update transactions set tx_hash = ${txHash}, requested_replacement = null, update_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id}`)

/** `hasFeeMax`: its user approved a fee, which a bump may exceed. */
type StuckTransaction = Ref & { ofTreasury: boolean; hasFeeMax: boolean }

/** Transactions signed before `beforeMs`, sent, in no block, and offering less than the base fee. Entities take turns. */
export function stuckTransactions(
  db: Db,
  turn: Turn,
  blockchain: string,
  baseFeeAtomic: bigint,
  beforeMs: number,
  limit: number,
): Promise<StuckTransaction[]> {
  const isOutpriced = sql`q.blockchain = ${blockchain} and q.state in ('signed', 'sent') and q.state = 'sent'
    and q.max_fee < ${baseFeeAtomic.toString()}::numeric and q.kind <> 'noop'
    and q.create_date < ${formatInstant(beforeMs)}`
  const where = sql`${isOutpriced} and (select t.state from transactions t where t.entity_id = q.entity_id
    and t.id = q.transaction_id) = 'SENT'`
  const take = (entityId: string, max: number) =>
    db.all<StuckTransaction>(sql`select distinct t.entity_id, t.id, t.wallet_id is null as of_treasury,
      t.fee_max is not null as has_fee_max
    from attempts q cross join lateral (select * from transactions o where o.entity_id = ${entityId}
      and o.id = q.transaction_id limit 1) t
    where q.entity_id = ${entityId} and ${isOutpriced} and t.state = 'SENT' limit ${max}`)
  return takeInTurns(db, turn, { from: sql`attempts q`, where, take }, limit)
}
