import { type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { type Turn, takeInTurns } from '#runtime/turns/store'

/** The width of the buckets that are stored. */
export const storedBucketMs = 300_000

type UncountedTransfer = { entityId: string; id: string }

/** Keeps other workers from counting until the `tx` ends. False when one does. */
export const lockCounting = async (tx: Db): Promise<boolean> =>
  (
    await tx.one<{ got: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended('counting the flow', 0)) as got`,
    )
  ).got

export const isAnyUncounted = async (db: Db): Promise<boolean> =>
  (await db.one<{ any: boolean }>(sql`select exists (select 1 from uncounted_flow) as any`)).any

/** Transfers that are not counted yet, round-robin over entities. */
export function uncountedTransfers(db: Db, turn: Turn, limit: number): Promise<readonly UncountedTransfer[]> {
  const take = (entityId: string, count: number) =>
    db.all<UncountedTransfer>(sql`select entity_id, id from uncounted_flow where entity_id = ${entityId}
      order by id limit ${count}`)
  return takeInTurns(db, turn, { from: sql`uncounted_flow`, where: sql`true`, take }, limit)
}

/**
 * Adds transfers to the buckets of their dates; a reversal takes what it undoes from the bucket of that. Coins of no currency are in
 * none.
 */
export const addToFlow = (tx: Db, transfers: readonly UncountedTransfer[]) =>
  perEntity(transfers, (entityId, own) =>
    tx.all(sql`insert into flow_buckets as b (entity_id, currency, start_date, in_amount, out_amount, transfer_count)
    select m.entity_id, m.currency, m.start_date, sum(greatest(m.moved, 0) * m.sign), sum(greatest(-m.moved, 0) * m.sign),
      sum(m.sign)
    from unnest(${own.map(({ id }) => id)}::uuid[]) as n(i) cross join lateral (
      select p.entity_id, t.currency, case when o.id is null then 1 else -1 end as sign,
        trunc(in_millionths(case when o.id is null then -e.amount else e.amount end, t.decimals)) as moved,
        date_bin(interval '5 minutes', coalesce(o.create_date, p.create_date), timestamptz '1970-01-01 00:00:00Z') as start_date
      from postings p left join postings o on o.entity_id = p.entity_id and o.id = p.reverses_id
      join entries e on e.entity_id = p.entity_id and e.posting_id = p.id
      join accounts a on a.entity_id = e.entity_id and a.id = e.account_id and a.kind = 'outside'
      join tokens t on t.id = a.token_id and t.currency is not null
      where p.entity_id = ${entityId} and p.id = n.i offset 0) m
    group by m.entity_id, m.currency, m.start_date order by m.entity_id, m.currency, m.start_date
    on conflict (entity_id, currency, start_date) do update set in_amount = b.in_amount + excluded.in_amount,
      out_amount = b.out_amount + excluded.out_amount, transfer_count = b.transfer_count + excluded.transfer_count`),
  )

export const removeCounted = (tx: Db, transfers: readonly UncountedTransfer[]) =>
  tx.run(sql`delete from uncounted_flow q using unnest(${transfers.map(({ entityId }) => entityId)}::uuid[],
      ${transfers.map(({ id }) => id)}::uuid[]) as n(e, i)
    where q.entity_id = n.e and q.id = n.i`)

/** The amounts that came in and went out in the time from `date` on. */
type FlowSum = { date: string; inAtomic: bigint; outAtomic: bigint; count: number }

type FlowRange = { currency: string; from: string; to: string; bucketMs: number }

/** The sums of wider buckets, each a multiple of its width in UTC, in the order of time; none where nothing moved. */
export const flowSums = (db: Db, entityId: string, { currency, from, to, bucketMs }: FlowRange) =>
  db.all<FlowSum>(sql`select date_bin(${bucketMs} * interval '1 millisecond', f.start_date,
      timestamptz '1970-01-01 00:00:00Z') as date, sum(f.in_amount) as in_atomic, sum(f.out_amount) as out_atomic,
      sum(f.transfer_count)::int8 as count
    from flow_buckets f where f.entity_id = ${entityId} and f.currency = ${currency}
      and f.start_date >= ${from} and f.start_date <= ${to}
    group by 1 order by 1`)
