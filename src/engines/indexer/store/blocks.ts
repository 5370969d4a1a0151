import type { BlockRef } from '#chains/chain'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

export type CanonicalBlock = { number: number; hash: string; parentHash: string }

/** Held by whoever changes what is known of a chain, until its `tx` ends. */
export const lockChain = (tx: Db, blockchain: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`indexer:${blockchain}`}, 0))`)

/** The newest block that was applied and not taken back. */
export const canonicalHead = (db: Db, blockchain: string) =>
  db.maybe<CanonicalBlock>(sql`select number, hash, parent_hash as "parentHash" from blocks
    where blockchain = ${blockchain} and canonical order by number desc limit 1`)

/** The hash of the canonical block of this number. */
export const canonicalHashAt = async (db: Db, blockchain: string, number: number) =>
  (
    await db.maybe<{ hash: string }>(sql`select hash from blocks
      where blockchain = ${blockchain} and number = ${number} and canonical`)
  )?.hash

/** The number of the oldest canonical block that is kept. */
export const oldestNumber = async (db: Db, blockchain: string): Promise<number> =>
  (
    await db.maybe<{ number: number }>(sql`select number from blocks
      where blockchain = ${blockchain} and canonical order by number limit 1`)
  )?.number ?? 0

export async function insertBlock(tx: Db, blockchain: string, block: BlockRef): Promise<void> {
  await tx.run(sql`insert into blocks (blockchain, hash, number, parent_hash, block_time)
    values (${blockchain}, ${block.hash}, ${block.number}, ${block.parentHash}, ${formatInstant(block.timeMs)})
    on conflict (blockchain, hash) do update set canonical = true`)
}

export const orphanBlock = (tx: Db, blockchain: string, hash: string) =>
  tx.run(sql`update blocks set canonical = false where blockchain = ${blockchain} and hash = ${hash}`)

/** Takes or renews the lease for `leaseMs` of database time; false while another process has it. */
export async function holdLease(
  db: Db,
  blockchain: string,
  holder: string,
  leaseMs: number,
): Promise<boolean> {
  const count = await db.run(sql`insert into chain_leases as l (blockchain, holder, lease_until)
    values (${blockchain}, ${holder}, now() + ${leaseMs} * interval '1 millisecond')
    on conflict (blockchain) do update set holder = excluded.holder, lease_until = excluded.lease_until
    where l.holder = excluded.holder or l.lease_until < now()`)
  return count === 1
}

export const releaseLease = (db: Db, blockchain: string, holder: string) =>
  db.run(sql`delete from chain_leases where blockchain = ${blockchain} and holder = ${holder}`)
