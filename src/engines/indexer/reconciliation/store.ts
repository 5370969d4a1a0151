import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
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

/** Releases the claim and stores the progress; with the old progress, the same comparison is repeated. */
export const finishReconciliation = (db: Db, blockchain: string, progress: ReconciliationProgress) =>
  db.run(sql`update reconciliations set block_number = ${progress.blockNumber}, round_address = ${progress.roundAddress},
      round_entity_id = ${progress.roundEntityId}, lease_until = null
    where blockchain = ${blockchain}`)

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
  if (gaps.length === 0) return []
  const rows = await db.all<{ key: string }>(sql`insert into reconciliation_gaps
      (entity_id, id, blockchain, address, token_id, block_number, block_hash, booked, on_chain, create_date)
    select n.e, n.i, ${blockchain}, n.a, n.t, ${block.number}, ${block.hash}, n.b, n.c, ${formatInstant(nowMs)}
    from unnest(${gaps.map((gap) => gap.entityId)}::uuid[], ${gaps.map(() => newId(nowMs))}::uuid[],
      ${gaps.map((gap) => gap.address)}::text[], ${gaps.map((gap) => gap.tokenId)}::uuid[],
      ${gaps.map((gap) => gap.bookedAtomic.toString())}::numeric[],
      ${gaps.map((gap) => gap.onChainAtomic.toString())}::numeric[]) as n(e, i, a, t, b, c)
    where not exists (select 1 from (select g.booked, g.on_chain from reconciliation_gaps g
        where g.entity_id = n.e and g.blockchain = ${blockchain} and g.address = n.a and g.token_id = n.t
        order by g.create_date desc, g.id desc limit 1) last where last.booked = n.b and last.on_chain = n.c)
    returning address || token_id as key`)
  const written = new Set(rows.map(({ key }) => key))
  return gaps.filter(({ address, tokenId }) => written.has(address + tokenId))
}

/** Records which of these balances, equal now, differed at their last record; returns those. */
export const recordAgreements = (
  db: Db,
  nowMs: number,
  blockchain: string,
  block: { number: number; hash: string },
  equal: readonly BalanceGap[],
) =>
  db.all<Omit<BookedBalance, 'bookedAtomic'>>(sql`insert into reconciliation_gaps
      (entity_id, id, blockchain, address, token_id, block_number, block_hash, booked, on_chain, create_date)
    select n.e, n.i, ${blockchain}, n.a, n.t, ${block.number}, ${block.hash}, n.b, n.b, ${formatInstant(nowMs)}
    from unnest(${equal.map((balance) => balance.entityId)}::uuid[], ${equal.map(() => newId(nowMs))}::uuid[],
      ${equal.map((balance) => balance.address)}::text[], ${equal.map((balance) => balance.tokenId)}::uuid[],
      ${equal.map((balance) => balance.bookedAtomic.toString())}::numeric[]) as n(e, i, a, t, b)
    cross join lateral (select g.booked <> g.on_chain as differed from reconciliation_gaps g
      where g.entity_id = n.e and g.blockchain = ${blockchain} and g.address = n.a and g.token_id = n.t
      order by g.create_date desc, g.id desc limit 1) last where last.differed
    returning entity_id, address, token_id`)

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
