import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { bigint, type RowOf, table, text, timestamptz } from '#runtime/db/table'

/** A chain that reverted a final block, and the block that it has in its place. */
type Halt = RowOf<typeof halts>

const halts = table('chain_halts', {
  blockchain: text,
  blockNumber: bigint,
  blockHash: text,
  otherHash: text,
  createDate: timestamptz,
})

export const findHalt = (db: Db, blockchain: string) =>
  db.maybe<Halt>(sql`select ${halts.columns()} from chain_halts where blockchain = ${blockchain}`)

/** Keeps the first halt: processes that detect it at the same time report the same. */
export const insertHalt = (db: Db, halt: Halt) => db.run(sql`${halts.insert([halt])} on conflict do nothing`)

export const deleteHalt = (tx: Db, blockchain: string) =>
  tx.run(sql`delete from chain_halts where blockchain = ${blockchain}`)

type ForkAcceptance = {
  blockchain: string
  actor: string
  accepted: { number: number; hash: string }
  common: { number: number; hash: string }
  head: { number: number; hash: string }
}

export const insertAcceptance = (
  tx: Db,
  nowMs: number,
  { blockchain, actor, accepted, common, head }: ForkAcceptance,
) =>
  tx.run(sql`insert into chain_acceptances (id, blockchain, actor, accepted_number, accepted_hash, common_number,
      common_hash, head_number, head_hash, create_date)
    values (${newId(nowMs)}, ${blockchain}, ${actor}, ${accepted.number}, ${accepted.hash}, ${common.number},
      ${common.hash}, ${head.number}, ${head.hash}, ${formatInstant(nowMs)})`)
