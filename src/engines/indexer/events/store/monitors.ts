import type { AbiParameter } from '#chains/facets/contracts'
import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, sql } from '#runtime/db/db'

/** A monitored event of a contract, unique by the hash of its canonical signature. */
export type EventMonitor = {
  id: string
  blockchain: string
  contractAddress: string
  eventSignature: string
  eventSignatureHash: string
  isEnabled: boolean
  fromBlock: number | null
  /** The first block whose logs it still has to read; null once it follows the newest block. */
  nextBlock: number | null
  /** The last block of its open history; null also until that is known. */
  toBlock: number | null
  /** The time of the block before `nextBlock`. */
  reachedDate: string | null
  createDate: string
  updateDate: string
}

export type NewEventMonitor = Pick<
  EventMonitor,
  'id' | 'blockchain' | 'contractAddress' | 'eventSignature' | 'eventSignatureHash' | 'fromBlock'
> & { entityId: string; eventName: string; parameters: AbiParameter[] | undefined }

const columns = sql`m.id, m.blockchain, m.contract_address, m.event_signature, m.event_signature_hash, m.is_enabled,
  m.from_block, h.next_block, h.to_block, h.reached_date, m.create_date, m.update_date`
const from = sql`event_monitors m left join lateral (select e.next_block, e.to_block, e.reached_date from event_histories e
  where e.entity_id = m.entity_id and e.monitor_id = m.id order by e.next_block limit 1) h on true`

export const findEventMonitor = (db: Db, entityId: string, id: string) =>
  db.maybe<EventMonitor>(sql`select ${columns} from ${from}
    where m.entity_id = ${entityId} and m.id = ${id} and m.deleted_date is null`)

export const findMonitorOfEvent = (
  db: Db,
  entityId: string,
  { blockchain, contractAddress, eventSignatureHash }: NewEventMonitor,
) =>
  db.maybe<EventMonitor>(sql`select ${columns} from ${from} where m.entity_id = ${entityId} and m.blockchain = ${blockchain}
    and m.contract_address = ${contractAddress} and m.event_signature_hash = ${eventSignatureHash}
    and m.deleted_date is null`)

type EventMonitorFilters = {
  contractAddress: string | undefined
  blockchain: string | undefined
  eventSignatureHash: string | undefined
}

export const eventMonitorsPage = (db: Db, entityId: string, filters: EventMonitorFilters, page: PageQuery) =>
  readPage<EventMonitor>(
    db,
    {
      columns,
      from,
      alias: 'm',
      scope: sql`m.entity_id = ${entityId}`,
      visible: sql`m.deleted_date is null`,
      filters: [
        filters.contractAddress === undefined
          ? undefined
          : sql`m.contract_address = ${filters.contractAddress}`,
        filters.blockchain === undefined ? undefined : sql`m.blockchain = ${listedWord(filters.blockchain)}`,
        filters.eventSignatureHash === undefined
          ? undefined
          : sql`m.event_signature_hash = ${filters.eventSignatureHash}`,
      ],
    },
    page,
  )

/** Inserts a monitor. False when the event is monitored already. */
export async function insertEventMonitor(tx: Db, nowMs: number, row: NewEventMonitor): Promise<boolean> {
  const at = formatInstant(nowMs)
  const parameters = row.parameters ? JSON.stringify(row.parameters) : null
  const inserted =
    await tx.run(sql`insert into event_monitors (entity_id, id, blockchain, contract_address, event_signature,
      event_signature_hash, event_name, parameters, from_block, create_date, update_date)
    values (${row.entityId}, ${row.id}, ${row.blockchain}, ${row.contractAddress}, ${row.eventSignature},
      ${row.eventSignatureHash}, ${row.eventName}, ${parameters}, ${row.fromBlock}, ${at}, ${at})
    on conflict do nothing`)
  return inserted > 0
}

export const setEnabled = async (
  tx: Db,
  nowMs: number,
  entityId: string,
  id: string,
  isEnabled: boolean,
): Promise<boolean> =>
  (await tx.run(sql`update event_monitors set is_enabled = ${isEnabled}, update_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id} and deleted_date is null`)) > 0

/** Deletes a monitor with the history that it has not read; its logs stay. False when there is none. */
export async function deleteEventMonitor(
  tx: Db,
  nowMs: number,
  entityId: string,
  id: string,
): Promise<boolean> {
  const at = formatInstant(nowMs)
  const deleted = await tx.run(sql`update event_monitors set deleted_date = ${at}, update_date = ${at}
    where entity_id = ${entityId} and id = ${id} and deleted_date is null`)
  if (deleted === 0) return false
  await tx.run(sql`delete from event_histories where entity_id = ${entityId} and monitor_id = ${id}`)
  return true
}

export type WatchedEvent = { entityId: string; monitorId: string; address: string; topic: string }

/** The enabled monitors of these events of contracts, of all entities. */
export const monitorsOfEvents = (
  tx: Db,
  blockchain: string,
  events: readonly { address: string; topic: string }[],
) =>
  tx.all<WatchedEvent>(sql`select m.entity_id, m.id as monitor_id, e.a as address, e.t as topic
    from unnest(${events.map(({ address }) => address)}::text[], ${events.map(({ topic }) => topic)}::text[]) as e(a, t)
    join event_monitors m on m.blockchain = ${blockchain} and m.contract_address = e.a and m.event_signature_hash = e.t
      and m.is_enabled and m.deleted_date is null
    order by m.entity_id, m.id`)
