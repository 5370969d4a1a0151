import { failedTransactions, type PlatformTransaction } from '#engines/failed-transactions'
import { type Db, sql } from '#runtime/db/db'

type DueForward = { id: string; payload: Buffer; signature: Buffer; expirationBlock: number }

const due = (blockchain: string) =>
  sql`blockchain = ${blockchain} and forwarded and forward_id is null and state = 'pending'`

/** Whether the fee of a transfer covers its mint, at this cost of a million gas in base units. */
const isCovered = (price: bigint) =>
  sql`coalesce(forward_fee * 1000000 >= forward_gas * ${price.toString()}::numeric, true)`

/** Tells of mints that cost more than their fee now; returns the ids of those that were not known to wait. */
export const delayUncoveredMints = async (db: Db, blockchain: string, price: bigint): Promise<string[]> => {
  const rows = await db.all<{
    id: string
  }>(sql`update unified_transfers set forward_delay = 'insufficient_forwarding_fee'
    where ${due(blockchain)} and not ${isCovered(price)} and forward_delay is null returning id`)
  return rows.map(({ id }) => id)
}

/** Whether a transfer waits to be forwarded. */
export const forwardsWait = async (db: Db, blockchain: string): Promise<boolean> =>
  (await db.maybe(sql`select 1 from unified_transfers where ${due(blockchain)} limit 1`)) !== undefined

/** Claims transfers to forward whose fee covers their mint, oldest first, until the `tx` ends. */
export const claimForwards = (tx: Db, blockchain: string, price: bigint, limit: number) =>
  tx.all<DueForward>(sql`select id, payload, signature, expiration_block from unified_transfers
    where ${due(blockchain)} and ${isCovered(price)} order by create_date, id limit ${limit} for update skip locked`)

/** Records the transaction that mints a transfer. */
export const markForwarded = (tx: Db, id: string, forwardId: string, payer: string) =>
  tx.run(
    sql`update unified_transfers set forward_id = ${forwardId}, forward_entity_id = ${payer}, forward_delay = null
    where id = ${id}`,
  )

const isForwarding = sql`forward_id is not null and failure_reason is null and state = 'pending'`

type FailedForward = { id: string; forwardId: string; reason: string }

/** Sets the reason of forwards whose transactions ended without effect; returns them. */
export async function failForwards(db: Db, blockchain: string): Promise<FailedForward[]> {
  const sent = await db.all<PlatformTransaction>(sql`select forward_entity_id as entity_id, forward_id as id
    from unified_transfers where blockchain = ${blockchain} and ${isForwarding}`)
  const failed = [...(await failedTransactions(db, sent)).values()]
  if (failed.length === 0) return []
  return db.all<FailedForward>(sql`update unified_transfers t set failure_reason = n.r
    from unnest(${failed.map(({ id }) => id)}::uuid[], ${failed.map(({ reason }) => reason)}::text[]) as n(f, r)
    where t.blockchain = ${blockchain} and t.forward_id = n.f and ${isForwarding}
    returning t.id, t.forward_id, t.failure_reason as reason`)
}
