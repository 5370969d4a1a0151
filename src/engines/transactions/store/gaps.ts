import { type Db, type Sql, sql } from '#runtime/db/db'
import { inTurns, isNotDeferred, served, type Turn } from '#runtime/turns/store'

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
  transactionId: Sql,
) => sql`(select t.fee_payer from transactions t where t.entity_id = q.entity_id
  and t.id = ${transactionId}) as fee_payer`

/** Nonces whose bytes were definitely refused and, where they expire, are dead: a pool would take no others before. */
export const refusedGaps = (db: Db, turn: Turn, blockchain: string, limit: number) =>
  below(
    db,
    turn,
    blockchain,
    sql`q.state = 'rejected'`,
    sql`q.replaces_id is null
      and (q.signed_at is null or q.death_proof is not null)
      and not exists (select 1 from attempts u where u.entity_id = q.entity_id and u.replaces_id = q.id)`,
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
    sql`q.kind = 'noop' and case when q.signed_at is null then q.max_fee < ${baseFeeAtomic.toString()}::numeric
      else q.death_proof is not null end`,
    limit,
  )

/** Gaps of addresses that are not deferred; entities take turns. `state` is the condition of an index on the entity. */
async function below(
  db: Db,
  turn: Turn,
  blockchain: string,
  state: Sql,
  condition: Sql,
  limit: number,
): Promise<NonceGap[]> {
  const where = sql`q.blockchain = ${blockchain} and ${state}`
  const rows = sql`select q.entity_id, q.address, q.nonce, q.create_date, l.transaction_id, ${payerOf(sql`l.transaction_id`)}, q.id,
      q.max_fee, q.priority_fee, q.kind, q.death_proof::text as death_proof
    from attempts q
    join lateral (select a.transaction_id from attempts a where a.blockchain = q.blockchain and a.address = q.address
      and a.nonce > q.nonce and a.state in ('signed', 'sent') and a.entity_id = q.entity_id
      and a.kind <> 'noop' order by a.nonce limit 1) l on true
    where ${where} and q.entity_id = turn.entity_id and ${condition}
      and ${isNotDeferred(turn.queue, blockchain, sql`q.entity_id`, sql`q.address`)}
    order by q.address, q.nonce`
  const found = await db.all<Row>(inTurns(turn, { from: sql`attempts q`, where, rows }, limit))
  return served(turn, found).map(({ id, maxFee, priorityFee, kind, deathProof, ...gap }) => ({
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
): Promise<readonly NonceGap[]> {
  const where = sql`q.blockchain = ${blockchain} and ${inFlight}`
  const rows = sql`select q.entity_id, q.address, q.nonce, q.create_date, q.transaction_id,
      ${payerOf(sql`q.transaction_id`)}
    from attempts q where ${where} and q.entity_id = turn.entity_id and q.kind <> 'noop'
      and q.broadcast_count >= ${triedMin} and q.nonce > 0
      and not exists (select 1 from attempts b where b.blockchain = q.blockchain and b.address = q.address
        and b.nonce = q.nonce - 1)
      and ${isNotDeferred(turn.queue, blockchain, sql`q.entity_id`, sql`q.address`)}
    order by q.address, q.nonce`
  return served(turn, await db.all<NonceGap>(inTurns(turn, { from: sql`attempts q`, where, rows }, limit)))
}

/** The intents that hold the fees of the no-ops among these attempts: the first no-op of each nonce. */
export const noopFeeHolders = async (
  tx: Db,
  attempts: readonly { entityId: string; id: string; kind: string }[],
) => {
  const noops = attempts.filter(({ kind }) => kind === 'noop')
  if (noops.length === 0) return []
  return tx.all<{
    entityId: string
    intentId: string
  }>(sql`select distinct f.entity_id, first.id as intent_id
    from unnest(${noops.map((row) => row.entityId)}::uuid[], ${noops.map((row) => row.id)}::uuid[]) as n(e, i)
    join attempts f on f.entity_id = n.e and f.id = n.i
    cross join lateral (select o.id from attempts o where o.entity_id = f.entity_id and o.blockchain = f.blockchain
      and o.address = f.address and o.nonce = f.nonce and o.kind = 'noop' order by o.max_fee limit 1) first`)
}
