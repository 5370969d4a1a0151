import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, raw, scan, sql } from '#runtime/db/db'
import { leaving } from './orders.ts'

/** What merchants own of a currency, and the coins behind it, in base units: `gap` is zero when nothing else accounts for them. */
export type MoneySums = {
  currency: string
  /** What the wallets of merchants have. */
  owed: bigint
  /** What lies at deposit addresses and treasuries, by all blocks that were applied. */
  coins: bigint
  /** Of the coins: deposits that no wallet was credited with yet, because their block has too few confirmations or was not followed. */
  arriving: bigint
  /** Of the coins: what somebody sent to a treasury. */
  unclaimed: bigint
  /** Of the coins: what operators booked by name as nobody's; negative where coins are missing for good. */
  adjusted: bigint
  /** Missing among the coins: what left in a block for orders that have not ended, less what came back for orders that have. */
  leaving: bigint
  gap: bigint
}

export type MoneyGap = MoneySums & { entityId: string }

/** The sums of every currency, and the entities whose sums have a gap, all of one moment. */
export async function moneySums(db: Db): Promise<{ totals: MoneySums[]; gaps: MoneyGap[] }> {
  // One statement sees one moment, whatever blocks are applied and orders are ended meanwhile.
  const rows = await scan<MoneySums & { entityId: string | null }>(
    db,
    sql`
    with parts as (
      select entity_id, currency, 'owed' as part, posted as amount from wallet_accounts
      union all select entity_id, currency, 'unclaimed', posted from unclaimed_accounts
      union all select entity_id, currency, 'adjusted', posted from adjusted_accounts
      union all select c.entity_id, c.currency, 'coins', c.posted
        from coin_accounts c join platform_addresses p
          on p.entity_id = c.entity_id and p.blockchain = c.blockchain and p.address = c.address
      union all select p.entity_id, p.currency, 'arriving', p.amount
        from payments p left join followed_confirmations f on f.engine = 'treasury' and f.blockchain = p.blockchain
        where p.type = 'payment' and p.status in ('pending', 'confirmed') and p.block_hash is not null
          and p.block_number > coalesce(f.complete_to, -1)
      union all select t.entity_id, t.currency, 'arriving', t.amount
        from transfers t left join followed_confirmations f on f.engine = 'treasury' and f.blockchain = t.blockchain
        where t.direction = 'in' and t.status in ('pending', 'running') and t.block_hash is not null
          and t.block_number > coalesce(f.complete_to, -1)
      union all select entity_id, currency, 'arriving', amount from unfollowed_transfers
        where engine = 'treasury' and direction = 'in'
      union all select entity_id, currency, 'leaving', amount from (${leaving}) as l
      union all select entity_id, currency, 'leaving', amount from unfollowed_transfers
        where engine = 'transactions' and direction = 'out'
    ), sums as (
      select entity_id, currency, ${sumOf('owed')}, ${sumOf('coins')}, ${sumOf('arriving')}, ${sumOf('unclaimed')},
        ${sumOf('adjusted')}, ${sumOf('leaving')}
      from parts group by entity_id, currency
    ), compared as (
      select *, coins - (owed + arriving + unclaimed + adjusted - leaving) as gap from sums
    )
    select entity_id as "entityId", currency, sum(owed) as owed, sum(coins) as coins, sum(arriving) as arriving,
      sum(unclaimed) as unclaimed, sum(adjusted) as adjusted, sum(leaving) as leaving, sum(gap) as gap
    from compared group by grouping sets ((currency), (entity_id, currency))
    having grouping(entity_id) = 1 or sum(gap) <> 0 order by currency, entity_id`,
  )
  return {
    totals: rows.flatMap(({ entityId, ...sums }) => (entityId === null ? [sums] : [])),
    gaps: rows.flatMap(({ entityId, ...sums }) => (entityId === null ? [] : [{ ...sums, entityId }])),
  }
}

const sumOf = (part: Exclude<keyof MoneySums, 'currency' | 'gap'>) =>
  sql`coalesce(sum(amount) filter (where part = ${part}), 0) as ${raw(part)}`

/** Whether it is time to compare, and nobody else is at it; the next time is `restMs` from now, in the time of the database. */
export const claimWatch = async (db: Db, restMs: number): Promise<boolean> =>
  (await db.run(sql`insert into money_watch as w (due) values (now() + ${restMs} * interval '1 millisecond')
    on conflict (one) do update set due = excluded.due where w.due <= now()`)) === 1

export const setWatchDue = (db: Db, restMs: number) =>
  db.run(sql`update money_watch set due = now() + ${restMs} * interval '1 millisecond'`)

/** Writes the gaps that were not of this amount when they were written the last time; returns those. */
export async function recordMoneyGaps(db: Db, nowMs: number, gaps: readonly MoneyGap[]): Promise<MoneyGap[]> {
  if (gaps.length === 0) return []
  const rows = await db.all<{ key: string }>(sql`insert into money_gaps
      (entity_id, id, currency, owed, coins, gap, create_date)
    select n.*, ${formatInstant(nowMs)}
    from unnest(${gaps.map(({ entityId }) => entityId)}::uuid[], ${gaps.map(() => newId(nowMs))}::uuid[],
      ${gaps.map(({ currency }) => currency)}::text[], ${gaps.map(({ owed }) => String(owed))}::numeric[],
      ${gaps.map(({ coins }) => String(coins))}::numeric[], ${gaps.map(({ gap }) => String(gap))}::numeric[])
      as n(e, i, y, o, c, g)
    where n.g is distinct from (select m.gap from money_gaps m where m.entity_id = n.e and m.currency = n.y
      order by m.create_date desc, m.id desc limit 1)
    returning entity_id || currency as key`)
  const written = new Set(rows.map(({ key }) => key))
  return gaps.filter(({ entityId, currency }) => written.has(entityId + currency))
}
