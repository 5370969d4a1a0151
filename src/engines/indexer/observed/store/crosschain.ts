import type { CrosschainEvent } from '#chains/crosschain/crosschain'
import { formatInstant } from '#lib/time'
import { type Db, jsonOf, sql } from '#runtime/db/db'

/** A log of a contract of cross-chain messages or unified balances, with its block. */
export type ObservedCrosschainEvent = CrosschainEvent & {
  blockchain: string
  blockHash: string
  blockNumber: number
  blockTime: string
}

type BlockPlace = { hash: string; number: number; timeMs: number }

/** Inserts the events of one block. */
export async function insertCrosschainEvents(
  tx: Db,
  blockchain: string,
  { hash, number, timeMs }: BlockPlace,
  events: readonly CrosschainEvent[],
): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ txHash, logIndex, kind, ...fields }) => ({ txHash, logIndex, kind, fields }))
  await tx.run(sql`insert into observed_crosschain_events (blockchain, block_hash, block_number, block_time, log_index,
      tx_hash, kind, fields)
    select ${blockchain}, ${hash}, ${number}::bigint, ${formatInstant(timeMs)}::timestamptz, row.log_index, row.tx_hash,
      row.kind, row.fields
    from jsonb_to_recordset(${jsonOf(rows)}::jsonb) as row(tx_hash text, log_index integer, kind text, fields jsonb)
    on conflict do nothing`)
}

type StoredEvent = {
  blockNumber: number
  blockTime: string
  logIndex: number
  txHash: string
  kind: string
  fields: Record<string, unknown>
}

/** The events of one block, in block order. */
export async function observedCrosschainOf(
  db: Db,
  blockchain: string,
  blockHash: string,
): Promise<ObservedCrosschainEvent[]> {
  const rows = await db.all<StoredEvent>(sql`select block_number, block_time, log_index, tx_hash, kind, fields
    from observed_crosschain_events where blockchain = ${blockchain} and block_hash = ${blockHash} order by log_index`)
  return rows.map(({ fields, ...row }) => {
    const given = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, isAmount(name) ? BigInt(value as string) : value]),
    )
    return { ...given, ...row, blockchain, blockHash } as ObservedCrosschainEvent
  })
}

const isAmount = (name: string) => name.endsWith('Atomic') || name === 'withdrawalBlock'

/** Deletes the events of a block whose stored contents turned out false. */
export const deleteCrosschainEvents = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(
    sql`delete from observed_crosschain_events where blockchain = ${blockchain} and block_hash = ${blockHash}`,
  )
