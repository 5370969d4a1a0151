import type { AbiParameter } from '#chains/facets/contracts'
import type { Hex } from '#lib/hex'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, sql } from '#runtime/db/db'

/** A log of a monitored event, with the declaration of its event. */
export type EventLog = {
  id: string
  blockchain: string
  contractAddress: string
  eventSignature: string
  eventSignatureHash: string
  eventName: string
  parameters: AbiParameter[] | null
  blockHash: string
  blockHeight: number
  blockTime: string
  txHash: string
  logIndex: number
  topics: Hex[]
  /** Null where it is larger than the maximum. */
  data: Buffer | null
  dataBytes: number
  createDate: string
}

export type NewEventLog = {
  entityId: string
  monitorId: string
  blockchain: string
  contractAddress: string
  blockHash: string
  blockNumber: number
  blockTimeMs: number
  txHash: string
  logIndex: number
  topics: readonly Hex[]
  data: Hex
}

/** Maximum size of the stored data of a log. */
export const dataBytesMax = 65_536

const columns = sql`l.id, l.blockchain, l.contract_address, m.event_signature, m.event_signature_hash, m.event_name,
  m.parameters, l.block_hash, l.block_number as block_height, l.block_time, l.tx_hash, l.log_index, l.topics, l.data,
  l.data_bytes, l.create_date`
const from = sql`event_logs l cross join lateral (select event_signature, event_signature_hash, event_name, parameters
  from event_monitors where entity_id = l.entity_id and id = l.monitor_id offset 0) m`

/** The log, also one whose block was removed. */
export const findEventLog = (db: Db, entityId: string, id: string) =>
  db.maybe<EventLog>(sql`select ${columns} from ${from} where l.entity_id = ${entityId} and l.id = ${id}`)

type EventLogFilters = { contractAddress: string | undefined; blockchain: string | undefined }

export const eventLogsPage = (db: Db, entityId: string, filters: EventLogFilters, page: PageQuery) =>
  readPage<EventLog>(
    db,
    {
      columns,
      from,
      alias: 'l',
      scope: sql`l.entity_id = ${entityId}`,
      visible: sql`l.removed_date is null`,
      filters: [
        filters.contractAddress === undefined
          ? undefined
          : sql`l.contract_address = ${filters.contractAddress}`,
        filters.blockchain === undefined ? undefined : sql`l.blockchain = ${listedWord(filters.blockchain)}`,
      ],
    },
    page,
  )

export type LogOfEntity = { entityId: string; id: string }

const bytesOf = ({ data }: NewEventLog) => data.length / 2 - 1

/**
 * Inserts logs in their order. Returns those that were not in the database, or were removed with their block; a block that is
 * applied again may have other contents.
 */
export async function insertEventLogs(
  tx: Db,
  nowMs: number,
  rows: readonly NewEventLog[],
): Promise<LogOfEntity[]> {
  if (rows.length === 0) return []
  const at = formatInstant(nowMs)
  const isSmall = (row: NewEventLog) => bytesOf(row) <= dataBytesMax
  const inserted =
    await tx.all<LogOfEntity>(sql`insert into event_logs as l (entity_id, id, monitor_id, blockchain, contract_address,
      block_hash, block_number, block_time, tx_hash, log_index, topics, data, data_bytes, create_date, update_date)
    select e, i, m, b, a, h, n, t, x, p, string_to_array(o, ','), decode(d, 'hex'), s, ${at}::timestamptz, ${at}::timestamptz
    from unnest(${rows.map(({ entityId }) => entityId)}::uuid[], ${rows.map(() => newId(nowMs))}::uuid[],
      ${rows.map(({ monitorId }) => monitorId)}::uuid[], ${rows.map(({ blockchain }) => blockchain)}::text[],
      ${rows.map(({ contractAddress }) => contractAddress)}::text[], ${rows.map(({ blockHash }) => blockHash)}::text[],
      ${rows.map(({ blockNumber }) => blockNumber)}::int8[],
      ${rows.map(({ blockTimeMs }) => formatInstant(blockTimeMs))}::timestamptz[],
      ${rows.map(({ txHash }) => txHash)}::text[], ${rows.map(({ logIndex }) => logIndex)}::int4[],
      ${rows.map(({ topics }) => topics.join())}::text[],
      ${rows.map((row) => (isSmall(row) ? row.data.slice(2) : null))}::text[], ${rows.map(bytesOf)}::int4[])
      as row(e, i, m, b, a, h, n, t, x, p, o, d, s)
    on conflict (entity_id, blockchain, block_hash, log_index) do update
      set removed_date = null, monitor_id = excluded.monitor_id, contract_address = excluded.contract_address,
        tx_hash = excluded.tx_hash, topics = excluded.topics, data = excluded.data, data_bytes = excluded.data_bytes,
        update_date = excluded.update_date
      where l.removed_date is not null
    returning l.entity_id, l.id`)
  return inserted.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** Marks the logs of a block that left the chain. */
export const removeEventLogs = (tx: Db, nowMs: number, blockchain: string, blockHash: string) =>
  tx.all<LogOfEntity>(sql`update event_logs set removed_date = ${formatInstant(nowMs)}, update_date = ${formatInstant(nowMs)}
    where blockchain = ${blockchain} and block_hash = ${blockHash} and removed_date is null
    returning entity_id, id`)
