import { type Db, sql } from '#runtime/db/db'

/** A nonce that nothing uses, and the transaction above it that cannot be in a block before something does. */
export type Gap = {
  entityId: string
  address: string
  nonce: number
  transactionId: string
  /** What was signed for the nonce last; none for one that nothing was ever signed for. */
  replaced?: { id: string; maxFee: bigint; priorityFee: bigint; kind: string }
}

type Row = Omit<Gap, 'replaced'> & { id: string; maxFee: bigint; priorityFee: bigint; kind: string }

/** Nonces whose bytes were certainly refused. */
export const refusedBelow = (db: Db, blockchain: string, limit: number) =>
  below(
    db,
    sql`r.blockchain = ${blockchain} and r.state = 'rejected' and r.replaces_id is null
      and not exists (select 1 from attempts u where u.entity_id = r.entity_id and u.replaces_id = r.id)`,
    limit,
  )

/** Fillers that offer less than blocks ask for. */
export const outpricedBelow = (db: Db, blockchain: string, baseFeeAtomic: bigint, limit: number) =>
  below(
    db,
    sql`r.blockchain = ${blockchain} and r.state in ('signed', 'sent') and r.kind = 'filler'
      and r.max_fee < ${baseFeeAtomic.toString()}::numeric`,
    limit,
  )

async function below(db: Db, condition: ReturnType<typeof sql>, limit: number): Promise<Gap[]> {
  const rows = await db.all<Row>(sql`select r.entity_id as "entityId", r.address, r.nonce,
      l.transaction_id as "transactionId", r.id, r.max_fee as "maxFee", r.priority_fee as "priorityFee", r.kind
    from attempts r
    join lateral (select a.transaction_id from attempts a where a.blockchain = r.blockchain and a.address = r.address
      and a.nonce > r.nonce and a.state in ('signed', 'sent') and a.entity_id = r.entity_id
      and a.kind <> 'filler' order by a.nonce limit 1) l on true
    where ${condition}
    order by r.address, r.nonce limit ${limit}`)
  return rows.map(({ id, maxFee, priorityFee, kind, ...gap }) => ({
    ...gap,
    replaced: { id, maxFee, priorityFee, kind },
  }))
}

/** So often sent, and nothing came of it: what is below is looked at. */
const triedMin = 3

/** What was sent in vain, right above a nonce that nothing was ever signed for: the chain may have used it, or not. */
export const aboveUnsigned = (db: Db, blockchain: string, limit: number) =>
  db.all<Gap>(sql`select a.entity_id as "entityId", a.address, a.nonce, a.transaction_id as "transactionId"
    from attempts a where a.blockchain = ${blockchain} and a.state in ('signed', 'sent') and a.kind <> 'filler'
      and a.broadcast_count >= ${triedMin} and a.nonce > 0
      and not exists (select 1 from attempts b where b.blockchain = a.blockchain and b.address = a.address
        and b.nonce = a.nonce - 1)
    order by a.address, a.nonce limit ${limit}`)

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
