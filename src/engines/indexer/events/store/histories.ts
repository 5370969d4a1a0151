import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, join, type Sql, sql } from '#runtime/db/db'
import { claimInTurns } from '#runtime/turns/claim'
import { isNotDeferred, type Turn } from '#runtime/turns/store'

type NewEventHistory = {
  entityId: string
  monitorId: string
  fromBlock: number
  toBlock: number | undefined
}

/** Number of blocks that the first read of a history asks for. */
const firstSpan = 64

/** Inserts ranges of blocks that monitors still have to read, and wakes the reader of the chain. */
export async function insertHistories(
  tx: Db,
  nowMs: number,
  blockchain: string,
  rows: readonly NewEventHistory[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`insert into event_histories (entity_id, id, monitor_id, blockchain, next_block, to_block, span, create_date)
    select e, i, m, ${blockchain}, f, t, ${firstSpan}, ${formatInstant(nowMs)}::timestamptz
    from unnest(${rows.map(({ entityId }) => entityId)}::uuid[], ${rows.map(() => newId(nowMs))}::uuid[],
      ${rows.map(({ monitorId }) => monitorId)}::uuid[], ${rows.map(({ fromBlock }) => fromBlock)}::int8[],
      ${rows.map(({ toBlock }) => toBlock ?? null)}::int8[]) as row(e, i, m, f, t)`)
  await tx.run(sql`select pg_notify('event_histories', ${blockchain})`)
}

/** A range that a worker leased. Only the lease holder writes its logs and its progress. */
export type EventHistory = {
  entityId: string
  id: string
  monitorId: string
  blockchain: string
  contractAddress: string
  topic: string
  nextBlock: number
  toBlock: number | null
  span: number
  fencingToken: number
  /** Since when nodes have refused each range; null after one that was read. */
  refusedSince: string | null
  createDate: string
}

/** Leases one range for `leaseMs` of database time, entities in turn: none above the final blocks, and none while disabled. */
export async function claimHistory(
  db: Db,
  turn: Turn,
  blockchain: string,
  finalTo: number,
  leaseMs: number,
): Promise<EventHistory | undefined> {
  const claim = {
    from: sql`event_histories h`,
    alias: 'h',
    where: (entityId: Sql) => sql`h.blockchain = ${blockchain}
      and (h.lease_until is null or h.lease_until < now()) and (h.to_block is null or h.next_block <= ${finalTo})
      and exists (select 1 from event_monitors m where m.entity_id = ${entityId} and m.id = h.monitor_id and m.is_enabled)
      and ${isNotDeferred(turn.queue, blockchain, entityId, sql`h.id::text`)}`,
    order: sql`h.create_date`,
    columns: sql`h.id`,
    change: (entityId: string) => sql`update event_histories h
      set lease_until = now() + ${leaseMs} * interval '1 millisecond', fencing_token = h.fencing_token + 1
      from taken, event_monitors m
      where h.entity_id = ${entityId} and h.id = taken.id and m.entity_id = ${entityId} and m.id = h.monitor_id
      returning h.entity_id, h.id, h.monitor_id, h.blockchain, m.contract_address, m.event_signature_hash as topic,
        h.next_block, h.to_block, h.span, h.fencing_token, h.refused_since, h.create_date`,
  }
  const [history] = await claimInTurns<EventHistory>(db, turn, claim, 1)
  return history
}

const isOurs = ({ entityId, id, fencingToken }: EventHistory) =>
  sql`entity_id = ${entityId} and id = ${id} and fencing_token = ${fencingToken}`

/** Locks the range until the `tx` ends. False when another worker leased it, or its monitor was deleted. */
export const lockHistory = async (tx: Db, history: EventHistory): Promise<boolean> =>
  (await tx.maybe(sql`select 1 from event_histories where ${isOurs(history)} for update`)) !== undefined

export const setLastBlock = (tx: Db, history: EventHistory, toBlock: number) =>
  tx.run(sql`update event_histories set to_block = ${toBlock} where ${isOurs(history)}`)

export const setSpan = (db: Db, history: EventHistory, span: number) =>
  db.run(sql`update event_histories set span = ${span} where ${isOurs(history)}`)

export const removeHistory = (db: Db, history: EventHistory) =>
  db.run(sql`delete from event_histories where ${isOurs(history)}`)

/** Stores the progress. A range that was read to its end is removed. */
export const advanceHistory = (
  tx: Db,
  history: EventHistory,
  reached: { nextBlock: number; timeMs: number; span: number },
) =>
  history.toBlock !== null && reached.nextBlock > history.toBlock
    ? removeHistory(tx, history)
    : tx.run(sql`update event_histories set next_block = ${reached.nextBlock}, span = ${reached.span},
          reached_date = ${formatInstant(reached.timeMs)}
        where ${isOurs(history)}`)

export const releaseHistory = (db: Db, history: EventHistory, refusedSince: string | null) =>
  db.run(
    sql`update event_histories set lease_until = null, refused_since = ${refusedSince} where ${isOurs(history)}`,
  )

/** Maximum number of histories of each chain that are counted. */
const countedMax = 10_000

type OpenHistories = { blockchain: string; count: number; refusedSince: string | null }

/** The open histories of enabled monitors by chain, and since when nodes have refused one of them. */
export async function openHistories(db: Db, blockchains: readonly string[]): Promise<OpenHistories[]> {
  if (blockchains.length === 0) return []
  const open = sql`event_histories h join event_monitors m
    on m.entity_id = h.entity_id and m.id = h.monitor_id and m.is_enabled`
  const chains = blockchains.map(
    (blockchain) => sql`select ${blockchain}::text as blockchain,
      (select count(*) from (select 1 from ${open} where h.blockchain = ${blockchain} limit ${countedMax}) counted) as count,
      (select h.refused_since from ${open} where h.blockchain = ${blockchain} and h.refused_since is not null
        order by h.refused_since limit 1) as refused_since`,
  )
  return db.all<OpenHistories>(join(chains, ' union all '))
}

/** Blocks at these heights as they are stored, locked against a change of the chain until the `tx` ends. */
export const lockBlocksAt = (tx: Db, blockchain: string, numbers: readonly number[]) =>
  tx.all<{ number: number; hash: string; canonical: boolean }>(sql`select number, hash, canonical from blocks
    where blockchain = ${blockchain} and number = any(${numbers}::int8[]) for share`)
