import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'

export type OwnedAddress = { entityId: string; address: string }
type BookedBalance = OwnedAddress & { tokenId: string; bookedAtomic: bigint }

/** The booked balances of these addresses at the end of canonical block `number`; no row where an account is missing. */
export const bookedBalancesAt = (
  db: Db,
  blockchain: string,
  number: number,
  places: readonly OwnedAddress[],
) =>
  db.all<BookedBalance>(sql`with asked as (
      select a.* from unnest(${places.map((place) => place.entityId)}::uuid[], ${places.map((place) => place.address)}::text[])
        as n(e, d) join address_accounts a on a.entity_id = n.e and a.blockchain = ${blockchain} and a.address = n.d),
    later as (
      select p.entity_id, p.account_id, sum(p.amount) as amount
      from blocks b join posted_entries p on p.blockchain = b.blockchain and p.block_hash = b.hash
      where b.blockchain = ${blockchain} and b.canonical and b.number > ${number}
        and (p.entity_id, p.account_id) in (select entity_id, id from asked) group by 1, 2)
    select a.entity_id, a.address, a.token_id, a.posted - coalesce(l.amount, 0) as booked_atomic
    from asked a left join later l on l.entity_id = a.entity_id and l.account_id = a.id`)

/** An owner's coins from before are to be booked; their balances are not compared meanwhile. */
export const startOpeningBalance = (
  tx: Db,
  nowMs: number,
  { entityId, blockchain, address }: OwnedAddress & { blockchain: string },
) =>
  tx.run(sql`insert into opening_balances (entity_id, blockchain, address, start_date)
    values (${entityId}, ${blockchain}, ${address}, ${formatInstant(nowMs)})`)

/** Whether an owner has coins from before that are not booked yet. */
export const isUnopened = async (db: Db, blockchain: string, { entityId, address }: OwnedAddress) =>
  (await db.maybe(sql`select 1 from opening_balances where entity_id = ${entityId} and blockchain = ${blockchain}
    and address = ${address} and block_number is null`)) !== undefined

/** Records the block at which an owner's coins from before were booked. */
export const recordOpeningBalance = (
  tx: Db,
  blockchain: string,
  { entityId, address }: OwnedAddress,
  block: { number: number; hash: string },
) =>
  tx.run(sql`update opening_balances set block_number = ${block.number}, block_hash = ${block.hash}
    where entity_id = ${entityId} and blockchain = ${blockchain} and address = ${address} and block_number is null`)

/** Coins from before that were booked at this block, which was reverted, are to be booked again; returns their owners. */
export const undoOpeningBalances = (tx: Db, nowMs: number, blockchain: string, blockHash: string) =>
  tx.all<OwnedAddress>(sql`update opening_balances set block_number = null, block_hash = null,
      start_date = ${formatInstant(nowMs)}
    where blockchain = ${blockchain} and block_hash = ${blockHash} returning entity_id, address`)

/** Ends the opening balances that were booked at final blocks: no reorg undoes them. */
export const endOpeningBalances = (db: Db, blockchain: string, finalNumber: number) =>
  db.run(sql`delete from opening_balances where blockchain = ${blockchain} and block_number <= ${finalNumber}
    and exists (select 1 from blocks b where b.blockchain = ${blockchain} and b.hash = block_hash and b.canonical)`)

/** The longest time that coins from before may wait to be booked; after it, they are a gap. */
const openingMaxMs = 3_600_000

/** Selects the places whose books are complete at block `number`: their coins from before were booked at it or below. */
export async function openedPlaces(
  db: Db,
  nowMs: number,
  blockchain: string,
  number: number,
  places: readonly OwnedAddress[],
): Promise<OwnedAddress[]> {
  const unopened = await db.all<OwnedAddress>(sql`select o.entity_id, o.address from opening_balances o
    where o.blockchain = ${blockchain} and o.address = any(${places.map(({ address }) => address)}::text[])
      and (o.block_number > ${number} or o.start_date > ${formatInstant(nowMs - openingMaxMs)}
        and not exists (select 1 from blocks b
          where b.blockchain = ${blockchain} and b.hash = o.block_hash and b.canonical))`)
  const keyOf = ({ entityId, address }: OwnedAddress) => `${entityId}${address}`
  const keys = new Set(unopened.map(keyOf))
  return places.filter((place) => !keys.has(keyOf(place)))
}

export type ReconciliationProgress = { blockNumber: number; roundAddress: string; roundEntityId: string }

/** Inserts the progress of a chain that was never compared. */
export const ensureReconciliation = (db: Db, blockchain: string) =>
  db.run(sql`insert into reconciliations (blockchain) values (${blockchain}) on conflict do nothing`)

/**
 * Claims the comparison of a chain at complete block `number` for `leaseMs` of database time; `undefined` when it is done, or
 * while another process holds it.
 */
export const claimReconciliation = (db: Db, blockchain: string, number: number, leaseMs: number) =>
  db.maybe<ReconciliationProgress>(sql`update reconciliations set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where blockchain = ${blockchain} and block_number <> ${number} and (lease_until is null or lease_until < now())
    returning block_number, round_address, round_entity_id`)

/**
 * Releases the claim and stores the progress, and the date of a comparison that ended; with the old progress, the same comparison is
 * repeated.
 */
export const finishReconciliation = (
  db: Db,
  blockchain: string,
  progress: ReconciliationProgress,
  comparedDate: string | null,
) =>
  db.run(sql`update reconciliations set block_number = ${progress.blockNumber}, round_address = ${progress.roundAddress},
      round_entity_id = ${progress.roundEntityId}, compared_date = coalesce(${comparedDate}, compared_date), lease_until = null
    where blockchain = ${blockchain}`)

/** The block up to which the books of each of these chains were compared, and when; none of a chain that never was. */
export const comparedBlocks = (db: Db, blockchains: readonly string[]) =>
  db.all<{
    blockchain: string
    blockNumber: number
    comparedDate: string | null
  }>(sql`select blockchain, block_number,
      compared_date
    from reconciliations where blockchain = any(${blockchains}::text[]) and block_number >= 0`)

/** The addresses with bookings in canonical blocks above `from` and up to `to`, at most `limit`. */
export const addressesMovedBetween = (db: Db, blockchain: string, from: number, to: number, limit: number) =>
  db.all<OwnedAddress>(sql`select distinct a.entity_id, a.address
    from blocks b join posted_entries p on p.blockchain = b.blockchain and p.block_hash = b.hash
    join address_accounts a on a.entity_id = p.entity_id and a.id = p.account_id
    where b.blockchain = ${blockchain} and b.canonical and b.number > ${from} and b.number <= ${to} limit ${limit}`)

export type BalanceGap = BookedBalance & { onChainAtomic: bigint }

/** Records the gaps whose amounts differ from their last record; returns those. */
export async function recordGaps(
  db: Db,
  nowMs: number,
  blockchain: string,
  block: { number: number; hash: string },
  gaps: readonly BalanceGap[],
): Promise<BalanceGap[]> {
  const open = await openAmong(db, blockchain, gaps)
  const isKnown = (gap: BalanceGap, place: number) =>
    open.get(place)?.bookedAtomic === gap.bookedAtomic && open.get(place)?.onChainAtomic === gap.onChainAtomic
  const changed = gaps.filter((gap, place) => !isKnown(gap, place))
  await insertGaps(db, nowMs, blockchain, block, changed)
  return changed
}

/** Records which of these balances, equal now, differed at their last record; returns those. */
export async function recordAgreements(
  db: Db,
  nowMs: number,
  blockchain: string,
  block: { number: number; hash: string },
  equal: readonly BalanceGap[],
): Promise<Omit<BookedBalance, 'bookedAtomic'>[]> {
  const open = await openAmong(db, blockchain, equal)
  const ended = equal.filter((_, place) => open.has(place))
  await insertGaps(db, nowMs, blockchain, block, ended)
  return ended.map(({ entityId, address, tokenId }) => ({ entityId, address, tokenId }))
}

type GapAmounts = Pick<BalanceGap, 'bookedAtomic' | 'onChainAtomic'>

/** The open gaps of these balances, each by the place of its balance. */
async function openAmong(
  db: Db,
  blockchain: string,
  balances: readonly BalanceGap[],
): Promise<ReadonlyMap<number, GapAmounts>> {
  if (balances.length === 0) return new Map()
  const rows = await db.all<
    GapAmounts & { place: number }
  >(sql`select n.k - 1 as place, g.booked as booked_atomic,
      g.on_chain as on_chain_atomic
    from unnest(${balances.map((row) => row.entityId)}::uuid[], ${balances.map((row) => row.address)}::text[],
      ${balances.map((row) => row.tokenId)}::uuid[]) with ordinality as n(e, a, t, k)
    join open_gaps o on o.entity_id = n.e and o.blockchain = ${blockchain} and o.address = n.a and o.token_id = n.t
    join reconciliation_gaps g on g.entity_id = o.entity_id and g.id = o.gap_id`)
  return new Map(rows.map(({ place, ...amounts }) => [place, amounts]))
}

async function insertGaps(
  db: Db,
  nowMs: number,
  blockchain: string,
  block: { number: number; hash: string },
  rows: readonly BalanceGap[],
): Promise<void> {
  if (rows.length === 0) return
  await db.run(sql`insert into reconciliation_gaps
      (entity_id, id, blockchain, address, token_id, block_number, block_hash, booked, on_chain, create_date)
    select n.e, n.i, ${blockchain}, n.a, n.t, ${block.number}::bigint, ${block.hash}, n.b, n.c, ${formatInstant(nowMs)}::timestamptz
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map(() => newId(nowMs))}::uuid[],
      ${rows.map((row) => row.address)}::text[], ${rows.map((row) => row.tokenId)}::uuid[],
      ${rows.map((row) => row.bookedAtomic.toString())}::numeric[],
      ${rows.map((row) => row.onChainAtomic.toString())}::numeric[]) as n(e, i, a, t, b, c)`)
}

/** A record of a balance that differed from the chain, or equals it again. */
export type GapRecord = {
  id: string
  blockchain: string
  address: string
  tokenId: string
  blockNumber: number
  blockHash: string
  bookedAtomic: bigint
  onChainAtomic: bigint
  /** Whether it differed, and nothing has been recorded of this balance since. */
  isOpen: boolean
  createDate: string
}

type GapFilters = { blockchain?: string | undefined; isOpen?: boolean | undefined }

const isOpenGap = (
  entityId: string,
) => sql`exists (select 1 from open_gaps o where o.entity_id = ${entityId} and o.blockchain = g.blockchain
  and o.address = g.address and o.token_id = g.token_id and o.gap_id = g.id offset 0)`

/** The gaps of an entity and their ends, newest first. */
export const gapRecordsPage = (
  db: Db,
  entityId: string,
  { blockchain, isOpen }: GapFilters,
  page: PageQuery,
) => {
  const ofChain = blockchain === undefined ? undefined : sql`g.blockchain = ${blockchain}`
  const source: Source = {
    columns: sql`g.id, g.blockchain, g.address, g.token_id, g.block_number, g.block_hash, g.booked as booked_atomic,
      g.on_chain as on_chain_atomic, ${isOpenGap(entityId)} as is_open, g.create_date`,
    from: sql`reconciliation_gaps g`,
    alias: 'g',
    scope: sql`g.entity_id = ${entityId}`,
    filters: [
      ofChain,
      isOpen === undefined ? undefined : isOpen ? isOpenGap(entityId) : sql`not ${isOpenGap(entityId)}`,
    ],
  }
  return readPage<GapRecord>(
    db,
    isOpen ? { ...source, ...openOf(entityId), filters: [ofChain], cursors: source } : source,
    page,
  )
}

/** The open gaps of an entity, which are few among all records, each with its record. */
const openOf = (entityId: string): Pick<Source, 'from' | 'alias' | 'scope' | 'hasDatedIds'> => ({
  from: sql`(select entity_id, gap_id as id from open_gaps where entity_id = ${entityId}) o
    cross join lateral (select id, blockchain, address, token_id, block_number, block_hash, booked, on_chain, create_date
      from reconciliation_gaps where entity_id = ${entityId} and id = o.id offset 0) g`,
  alias: 'o',
  scope: sql`o.entity_id = ${entityId}`,
  hasDatedIds: true,
})

/** A balance that differs from the chain, and since when. */
export type OpenGap = Pick<
  GapRecord,
  'blockchain' | 'address' | 'tokenId' | 'bookedAtomic' | 'onChainAtomic'
> & {
  sinceDate: string
}

/** The open gaps of an entity, the oldest first. */
export const openGaps = (db: Db, entityId: string, limit: number) =>
  db.all<OpenGap>(sql`select o.blockchain, o.address, o.token_id, g.booked as booked_atomic, g.on_chain as on_chain_atomic,
      o.create_date as since_date
    from open_gaps o join reconciliation_gaps g on g.entity_id = o.entity_id and g.id = o.gap_id
    where o.entity_id = ${entityId} order by o.create_date, o.gap_id limit ${limit}`)

/** The number of open gaps of an entity, up to `limit`. */
export const countOpenGaps = async (db: Db, entityId: string, limit: number): Promise<number> =>
  (
    await db.one<{ count: number }>(
      sql`select count(*) as count from (select 1 from open_gaps where entity_id = ${entityId} limit ${limit}) o`,
    )
  ).count

/** Maximum count: beyond it, no operator needs the exact number. */
const countedMax = 10_000

/** Number of gaps ever found on each chain, and of those that are open, among the first `countedMax` records. */
export const gapCounts = (db: Db) =>
  db.all<{ blockchain: string; count: number; open: number }>(sql`select blockchain,
      count(*) filter (where booked <> on_chain) as count,
      count(*) filter (where booked <> on_chain and place = 1) as open
    from (select blockchain, booked, on_chain, row_number() over (
        partition by entity_id, blockchain, address, token_id order by create_date desc, id desc) as place
      from (select * from reconciliation_gaps limit ${countedMax}) counted) found group by blockchain`)
