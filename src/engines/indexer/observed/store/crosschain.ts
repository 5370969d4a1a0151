import type { CrosschainEvent } from '#chains/crosschain/crosschain'
import { formatInstant } from '#lib/time'
import { type Db, jsonOf, sql } from '#runtime/db/db'
import type { HoldingBlock } from './transfers.ts'

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

const holding = sql`o.block_hash, o.block_number, o.tx_hash, null::text as address, null::int8 as nonce,
  null::boolean as success`

/** The blocks that hold, or held, messages of this transaction. */
export const blocksOfMessages = (db: Db, blockchain: string, txHash: string) =>
  db.all<HoldingBlock>(sql`select distinct ${holding} from observed_crosschain_events o
    where o.blockchain = ${blockchain} and o.tx_hash = ${txHash} and o.kind = 'messageSent'
    order by o.block_number, o.block_hash`)

/** A block that holds, or held, the delivery of a message, or the mint or burn of a transfer. */
export type CrosschainUse = HoldingBlock & {
  blockchain: string
  kind: 'messageReceived' | 'minted' | 'burned'
  /** The nonce of the message, or the hash of the specification of the transfer. */
  subject: string
}

/** The blocks that hold, or held, what became of these messages and specifications of transfers, on all chains. */
export const crosschainUses = (db: Db, subjects: readonly string[]) =>
  db.all<CrosschainUse>(sql`select o.blockchain, o.kind, coalesce(o.fields ->> 'nonce', o.fields ->> 'specHash') as subject,
      ${holding}
    from observed_crosschain_events o
    where coalesce(o.fields ->> 'nonce', o.fields ->> 'specHash') = any(${subjects}::text[])
      and o.kind in ('messageReceived', 'minted', 'burned')
    order by o.block_number, o.block_hash, o.log_index`)
