import { type Db, type Sql, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { isNotDeferred, type Turn, takeInTurns } from '#runtime/turns/store'

/** An unused nonce, and the transaction above it that cannot be mined before the nonce is used. */
export type NonceGap = {
  entityId: string
  address: string
  nonce: number
  transactionId: string
  /** The treasury that pays the fee of that transaction; null where its sender does. */
  feePayer: string | null
  /** The date of the attempt that revealed the gap. */
  createDate: string
  /** The attempt to replace; absent when no attempt was ever signed for the nonce. */
  replaced?: ReplacedAttempt
}

/** `deathProof`: that no block can have bytes that expire, as JSON; null of all others. */
type ReplacedAttempt = {
  id: string
  maxFee: bigint
  priorityFee: bigint
  kind: string
  deathProof: string | null
}

type Row = Omit<NonceGap, 'replaced'> & ReplacedAttempt

const payerOf = (
  entityId: string,
  transactionId: Sql,
) => sql`(select t.fee_payer from transactions t where t.entity_id = ${entityId}
  and t.id = ${transactionId}) as fee_payer`

/** Nonces whose bytes were definitely refused and, where they expire, are dead: a pool would take no others before. */
export const refusedGaps = (db: Db, turn: Turn, blockchain: string, limit: number) =>
  below(
    db,
    turn,
    blockchain,
    sql`q.state = 'rejected'`,
    (entityId) => sql`q.replaces_id is null
      and (q.signed_at is null or q.death_proof is not null)
      and not exists (select 1 from attempts u where u.entity_id = ${entityId} and u.replaces_id = q.id)`,
    limit,
  )

const inFlight = sql`q.state in ('signed', 'sent')`

/** Nonces of no-ops that offer less than the base fee or, where they expire, are dead: until then they are sent at their price. */
export const underpricedGaps = (
  db: Db,
  turn: Turn,
  blockchain: string,
  baseFeeAtomic: bigint,
  limit: number,
) =>
  below(
    db,
    turn,
    blockchain,
    inFlight,
    () => sql`q.kind = 'noop' and case when q.signed_at is null then q.max_fee < ${baseFeeAtomic.toString()}::numeric
      else q.death_proof is not null end`,
    limit,
  )

/** Gaps of addresses that are not deferred; entities take turns. `state` is the condition of an index on the entity. */
async function below(
  db: Db,
  turn: Turn,
  blockchain: string,
  state: Sql,
  condition: (entityId: Sql) => Sql,
  limit: number,
): Promise<NonceGap[]> {
  const aboveOf = (
    entityId: Sql,
  ) => sql`from attempts a where a.entity_id = ${entityId} and a.blockchain = q.blockchain
    and a.address = q.address and a.nonce > q.nonce and a.state in ('signed', 'sent') and a.kind <> 'noop'`
  const isGapOf = (entityId: Sql) => sql`q.blockchain = ${blockchain} and ${state} and ${condition(entityId)}
    and ${isNotDeferred(turn.queue, blockchain, entityId, sql`q.address`)}`
  const ofAll = sql`q.entity_id`
  const where = sql`${isGapOf(ofAll)} and exists (select 1 ${aboveOf(ofAll)})`
  const take = (entityId: string, max: number) =>
    db.all<Row>(sql`select q.entity_id, q.address, q.nonce, q.create_date, l.transaction_id,
      ${payerOf(entityId, sql`l.transaction_id`)}, q.id, q.max_fee, q.priority_fee, q.kind, q.death_proof::text as death_proof
    from attempts q join lateral (select a.transaction_id ${aboveOf(sql`${entityId}`)} order by a.nonce limit 1) l on true
    where q.entity_id = ${entityId} and ${isGapOf(sql`${entityId}`)}
    order by q.address, q.nonce limit ${max}`)
  const found = await takeInTurns(db, turn, { from: sql`attempts q`, where, take }, limit)
  return found.map(({ id, maxFee, priorityFee, kind, deathProof, ...gap }) => ({
    ...gap,
    replaced: { id, maxFee, priorityFee, kind, deathProof },
  }))
}

/** Number of broadcasts without effect after which the nonce below is checked. */
const triedMin = 3

/** Attempts sent without effect directly above a nonce without any attempt, which the chain may have used or not. */
export async function attemptsAboveGaps(
  db: Db,
  turn: Turn,
  blockchain: string,
  limit: number,
): Promise<NonceGap[]> {
  const isAboveOf = (entityId: Sql) => sql`q.blockchain = ${blockchain} and ${inFlight} and q.kind <> 'noop'
    and q.broadcast_count >= ${triedMin} and q.nonce > 0
    and not exists (select 1 from attempts b where b.entity_id = ${entityId} and b.blockchain = q.blockchain
      and b.address = q.address and b.nonce = q.nonce - 1)
    and ${isNotDeferred(turn.queue, blockchain, entityId, sql`q.address`)}`
  const where = isAboveOf(sql`q.entity_id`)
  const take = (entityId: string, max: number) =>
    db.all<NonceGap>(sql`select q.entity_id, q.address, q.nonce, q.create_date, q.transaction_id,
      ${payerOf(entityId, sql`q.transaction_id`)}
    from attempts q where q.entity_id = ${entityId} and ${isAboveOf(sql`${entityId}`)}
    order by q.address, q.nonce limit ${max}`)
  return takeInTurns(db, turn, { from: sql`attempts q`, where, take }, limit)
}

/** The intents that hold the fees of the no-ops among these attempts: the first no-op of each nonce. */
export const noopFeeHolders = (tx: Db, attempts: readonly { entityId: string; id: string; kind: string }[]) =>
  perEntity(
    attempts.filter(({ kind }) => kind === 'noop'),
    (entityId, noops) =>
      tx.all<{ entityId: string; intentId: string }>(sql`select distinct f.entity_id, first.id as intent_id
    from unnest(${noops.map((row) => row.id)}::uuid[]) as n(i)
    join attempts f on f.entity_id = ${entityId} and f.id = n.i
    cross join lateral (select o.id from attempts o where o.entity_id = ${entityId} and o.blockchain = f.blockchain
      and o.address = f.address and o.nonce = f.nonce and o.kind = 'noop' order by o.max_fee limit 1) first`),
  )
