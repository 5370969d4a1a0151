import type { Block } from '#chains/facets/blocks'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

export type CanonicalBlock = { number: number; hash: string; parentHash: string }

/** Takes the lock for changes to the stored state of a chain, until the `tx` ends. */
export const lockChain = (tx: Db, blockchain: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`indexer:${blockchain}`}, 0))`)

/** The newest block that was applied and not reverted. */
export const canonicalHead = (db: Db, blockchain: string) =>
  db.maybe<CanonicalBlock>(sql`select number, hash, parent_hash from blocks
    where blockchain = ${blockchain} and canonical order by number desc limit 1`)

/** The canonical blocks of these numbers, lowest first. */
export const canonicalBetween = (db: Db, blockchain: string, from: number, to: number) =>
  db.all<CanonicalBlock>(sql`select number, hash, parent_hash from blocks
    where blockchain = ${blockchain} and canonical and number between ${from} and ${to} order by number`)

/** The newest canonical blocks of these chains; nothing of a chain that has none. */
export const canonicalHeights = (db: Db, blockchains: readonly string[]) =>
  db.all<{ blockchain: string; number: number }>(sql`select asked.blockchain, head.number
    from unnest(${blockchains}::text[]) as asked(blockchain)
    cross join lateral (select number from blocks where blockchain = asked.blockchain and canonical
      order by number desc limit 1) head`)

/** Whether a block is canonical. It stays so until the `tx` ends. */
export const lockCanonical = async (tx: Db, blockchain: string, hash: string): Promise<boolean> =>
  (await tx.maybe<{ hash: string }>(sql`select hash from blocks
    where blockchain = ${blockchain} and hash = ${hash} and canonical for share`)) !== undefined

/** The newest booked block, with its timestamp on the chain. */
export const indexedHead = (db: Db, blockchain: string) =>
  db.maybe<{ number: number; blockTime: string }>(sql`select number, block_time from blocks
    where blockchain = ${blockchain} and canonical order by number desc limit 1`)

/** The canonical blocks without a gap between them up to this number: the lowest, and the last of them. */
export async function storedBlocks(db: Db, blockchain: string, number: number) {
  const row = await db.maybe<{ from: number; number: number; hash: string; timeMs: number }>(sql`select
      (select o.number from blocks o where o.blockchain = ${blockchain} and o.canonical order by o.number limit 1) as from,
      b.number, b.hash, (extract(epoch from b.block_time) * 1000)::float8 as time_ms
    from blocks b where b.blockchain = ${blockchain} and b.number = ${number} and b.canonical`)
  if (!row) return undefined
  const { from, ...last } = row
  return { from, last: { ...last, hash: last.hash } }
}

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

export async function insertBlock(tx: Db, blockchain: string, block: Block): Promise<void> {
  const { hash, number, parentHash, timeMs, contentHash = null } = block
  await tx.run(sql`insert into blocks (blockchain, hash, number, parent_hash, block_time, content_hash)
    values (${blockchain}, ${hash}, ${number}, ${parentHash}, ${formatInstant(timeMs)}, ${contentHash})
    on conflict (blockchain, hash) do update set canonical = true, content_hash = excluded.content_hash`)
}

/** Content hashes of canonical blocks, lowest first; blocks without one are left out. */
export const contentHashesBetween = (
  db: Db,
  blockchain: string,
  { from, to }: { from: number; to: number },
  limit: number,
) =>
  db.all<{
    number: number
    hash: string
    contentHash: string
  }>(sql`select number, hash, content_hash
    from blocks where blockchain = ${blockchain} and canonical and number between ${from} and ${to}
      and content_hash is not null order by number limit ${limit}`)

/** Whether this block was applied before with other contents. */
export const hasOtherContents = async (db: Db, blockchain: string, { hash, contentHash }: Block) =>
  (
    await db.one<{ yes: boolean }>(sql`select exists (select 1 from blocks where blockchain = ${blockchain}
      and hash = ${hash} and content_hash <> ${contentHash ?? null}) as yes`)
  ).yes

export const orphanBlock = (tx: Db, blockchain: string, hash: string) =>
  tx.run(sql`update blocks set canonical = false where blockchain = ${blockchain} and hash = ${hash}`)

/** Removes up to `batch` old canonical blocks and as many steps; returns the larger of both counts (migrations/0005). */
export const pruneBlocks = async (
  db: Db,
  blockchain: string,
  olderThanMs: number,
  batch: number,
): Promise<number> =>
  (
    await db.one<{ count: number }>(
      sql`select prune_blocks(${blockchain}, ${formatInstant(olderThanMs)}, ${batch}) as count`,
    )
  ).count

/** Takes or renews the lease for `leaseMs` of database time; false while another process has it. */
export async function takeLease(
  db: Db,
  blockchain: string,
  holder: string,
  leaseMs: number,
): Promise<boolean> {
  const count = await db.run(sql`insert into chain_leases as l (blockchain, holder, lease_until)
    values (${blockchain}, ${holder}, now() + ${leaseMs} * interval '1 millisecond')
    on conflict (blockchain) do update set holder = excluded.holder, lease_until = excluded.lease_until
    where l.holder = excluded.holder
      or l.lease_until at time zone 'UTC' < excluded.lease_until at time zone 'UTC' - ${leaseMs} * interval '1 millisecond'`)
  return count === 1
}

/** The chains that a worker follows, or followed until `graceMs` ago. */
export const followedChains = async (db: Db, graceMs: number): Promise<string[]> =>
  (
    await db.all<{ blockchain: string }>(sql`select blockchain from chain_leases
      where lease_until > now() - ${graceMs} * interval '1 millisecond'`)
  ).map(({ blockchain }) => blockchain)

export const releaseLease = (db: Db, blockchain: string, holder: string) =>
  db.run(sql`delete from chain_leases where blockchain = ${blockchain} and holder = ${holder}`)
