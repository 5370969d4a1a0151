import { type Db, type Sql, sql } from '#runtime/db/db'
import { inTurns, isAwake, served, type Turn } from '#runtime/turns/store'

/** A nonce that nothing uses, and the transaction above it that cannot be in a block before something does. */
export type Gap = {
  entityId: string
  address: string
  nonce: number
  transactionId: string
  /** Since when something is known of it. */
  createDate: string
  /** What was signed for the nonce last; none for one that nothing was ever signed for. */
  replaced?: { id: string; maxFee: bigint; priorityFee: bigint; kind: string }
}

type Row = Omit<Gap, 'replaced'> & { id: string; maxFee: bigint; priorityFee: bigint; kind: string }

/** Nonces whose bytes were certainly refused. */
export const refusedBelow = (db: Db, turn: Turn, blockchain: string, limit: number) =>
  below(
    db,
    turn,
    blockchain,
    sql`q.state = 'rejected'`,
    sql`q.replaces_id is null
      and not exists (select 1 from attempts u where u.entity_id = q.entity_id and u.replaces_id = q.id)`,
    limit,
  )

const inFlight = sql`q.state in ('signed', 'sent')`

/** Fillers that offer less than blocks ask for. */
export const outpricedBelow = (
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
    sql`q.kind = 'filler' and q.max_fee < ${baseFeeAtomic.toString()}::numeric`,
    limit,
  )

/** Of addresses that do not rest, by turns. `state` is what an index of the tenants has for its condition. */
async function below(
  db: Db,
  turn: Turn,
  blockchain: string,
  state: Sql,
  condition: Sql,
  limit: number,
): Promise<Gap[]> {
  const where = sql`q.blockchain = ${blockchain} and ${state}`
  const rows = sql`select q.entity_id as "entityId", q.address, q.nonce, q.create_date as "createDate",
      l.transaction_id as "transactionId", q.id, q.max_fee as "maxFee", q.priority_fee as "priorityFee", q.kind
    from attempts q
    join lateral (select a.transaction_id from attempts a where a.blockchain = q.blockchain and a.address = q.address
      and a.nonce > q.nonce and a.state in ('signed', 'sent') and a.entity_id = q.entity_id
      and a.kind <> 'filler' order by a.nonce limit 1) l on true
    where ${where} and q.entity_id = turn.entity_id and ${condition}
      and ${isAwake(turn.queue, blockchain, sql`q.entity_id`, sql`q.address`)}
    order by q.address, q.nonce`
  const found = await db.all<Row>(inTurns(turn, { from: sql`attempts q`, where, rows }, limit))
  return served(turn, found).map(({ id, maxFee, priorityFee, kind, ...gap }) => ({
    ...gap,
    replaced: { id, maxFee, priorityFee, kind },
  }))
}

/** So often sent, and nothing came of it: what is below is looked at. */
const triedMin = 3

/** What was sent in vain, right above a nonce that nothing was ever signed for: the chain may have used it, or not. */
export async function aboveUnsigned(
  db: Db,
  turn: Turn,
  blockchain: string,
  limit: number,
): Promise<readonly Gap[]> {
  const where = sql`q.blockchain = ${blockchain} and ${inFlight}`
  const rows = sql`select q.entity_id as "entityId", q.address, q.nonce, q.create_date as "createDate",
      q.transaction_id as "transactionId"
    from attempts q where ${where} and q.entity_id = turn.entity_id and q.kind <> 'filler'
      and q.broadcast_count >= ${triedMin} and q.nonce > 0
      and not exists (select 1 from attempts b where b.blockchain = q.blockchain and b.address = q.address
        and b.nonce = q.nonce - 1)
      and ${isAwake(turn.queue, blockchain, sql`q.entity_id`, sql`q.address`)}
    order by q.address, q.nonce`
  return served(turn, await db.all<Gap>(inTurns(turn, { from: sql`attempts q`, where, rows }, limit)))
}

/** In whose name the fillers among these hold their fee: that of the first one for their nonce. */
export const holdersOf = async (
  tx: Db,
  attempts: readonly { entityId: string; id: string; kind: string }[],
) => {
  const fillers = attempts.filter(({ kind }) => kind === 'filler')
  if (fillers.length === 0) return []
  return tx.all<{
    entityId: string
    intentId: string
  }>(sql`select distinct f.entity_id as "entityId", first.id as "intentId"
    from unnest(${fillers.map((row) => row.entityId)}::uuid[], ${fillers.map((row) => row.id)}::uuid[]) as n(e, i)
    join attempts f on f.entity_id = n.e and f.id = n.i
    cross join lateral (select o.id from attempts o where o.entity_id = f.entity_id and o.blockchain = f.blockchain
      and o.address = f.address and o.nonce = f.nonce and o.kind = 'filler' order by o.max_fee limit 1) first`)
}
