import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, raw, scan, sql } from '#runtime/db/db'
import { numeric, table, text, timestamptz, uuid } from '#runtime/db/table'
import { leaving } from '../../disbursements/store/disbursements.ts'
import { moving } from '../../rebalancing/store.ts'

/**
 * The money of merchants in a currency and the coins that back it, in millionths. `gap` is the difference that the other amounts do
 * not explain, exactly: a part of a millionth counts as one.
 */
export type MoneySums = {
  currency: string
  /** The balances of merchants' wallets. */
  owed: bigint
  /** Coins at deposit addresses and treasuries, according to all applied blocks. */
  coins: bigint
  /** Of the coins: deposits not credited, because of missing confirmations, a block not followed yet, or their review. */
  arriving: bigint
  /** Of the coins: transfers from external senders to a treasury, and those for gas where a stablecoin pays for it. */
  unclaimed: bigint
  /** Of the coins: adjustments booked by operators, owed to no merchant; negative where coins are missing for good. */
  adjusted: bigint
  /**
   * Missing from the coins: sent in a block for disbursements not ended, less returned by a reorg for disbursements that
   * ended.
   */
  leaving: bigint
  /** Missing from the coins: burned on one chain by rebalancings, and not minted on the other. */
  moving: bigint
  gap: bigint
}

export type MoneyGap = MoneySums & { entityId: string }

/** Returns the sums of every currency and the entities with a gap, all from one snapshot. */
export async function moneySums(db: Db): Promise<{ totals: MoneySums[]; gaps: MoneyGap[] }> {
  // One statement reads one snapshot, regardless of concurrently applied blocks and ended disbursements.
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
          and p.review is distinct from 'pending' and p.block_number > coalesce(f.complete_to, -1)
      union all select t.entity_id, t.currency, 'arriving', t.amount
        from transfers t left join followed_confirmations f on f.engine = 'treasury' and f.blockchain = t.blockchain
        where t.direction = 'in' and t.status in ('pending', 'running') and t.block_hash is not null
          and t.review is distinct from 'pending' and t.block_number > coalesce(f.complete_to, -1)
      union all select entity_id, currency, 'arriving', amount from payments
        where review in ('pending', 'denied') and block_hash is not null
      union all select entity_id, currency, 'arriving', amount from transfers
        where review in ('pending', 'denied') and block_hash is not null
      union all select entity_id, currency, 'arriving', amount from unfollowed_transfers
        where engine = 'treasury' and direction = 'in'
      union all select entity_id, currency, 'leaving', amount from (${leaving}) as l
      union all select entity_id, currency, 'moving', amount from (${moving}) as m
      union all select entity_id, currency, 'leaving', amount from unfollowed_transfers
        where engine = 'transactions' and direction = 'out'
    ), sums as (
      select entity_id, currency, ${sumOf('owed')}, ${sumOf('coins')}, ${sumOf('arriving')}, ${sumOf('unclaimed')},
        ${sumOf('adjusted')}, ${sumOf('leaving')}, ${sumOf('moving')}
      from parts group by entity_id, currency
    ), compared as (
      select *, coins - (owed + arriving + unclaimed + adjusted - leaving - moving) as gap from sums
    )
    select entity_id, currency, sum(owed) as owed, trunc(sum(coins)) as coins, trunc(sum(arriving)) as arriving,
      trunc(sum(unclaimed)) as unclaimed, sum(adjusted) as adjusted, trunc(sum(leaving)) as leaving,
      sum(moving) as moving, sign(sum(gap)) * ceil(abs(sum(gap))) as gap
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

/** Claims the comparison if it is due, for one process; the next is due `restMs` from now, in database time. */
export async function claimWatch(db: Db, restMs: number): Promise<boolean> {
  const due = sql`now() + ${restMs} * interval '1 millisecond'`
  if ((await db.run(sql`update money_watch set due = ${due} where due <= now()`)) === 1) return true
  return (await db.run(sql`insert into money_watch (due) values (${due}) on conflict (one) do nothing`)) === 1
}

export const setWatchDue = (db: Db, restMs: number) =>
  db.run(sql`update money_watch set due = now() + ${restMs} * interval '1 millisecond'`)

const moneyGaps = table('money_gaps', {
  entityId: uuid,
  id: uuid,
  currency: text,
  owed: numeric,
  coins: numeric,
  gap: numeric,
  createDate: timestamptz,
})

/** Stores the gaps whose amount differs from the one stored last, and returns those. */
export async function recordMoneyGaps(db: Db, nowMs: number, gaps: readonly MoneyGap[]): Promise<MoneyGap[]> {
  if (gaps.length === 0) return []
  const stored = await db.all<Pick<MoneyGap, 'entityId' | 'currency' | 'gap'>>(
    sql`select distinct on (m.entity_id, m.currency) m.entity_id, m.currency, m.gap from money_gaps m
      where m.entity_id = any(${gaps.map(({ entityId }) => entityId)}::uuid[])
      order by m.entity_id, m.currency, m.create_date desc, m.id desc`,
  )
  const news = gaps.filter(
    ({ entityId, currency, gap }) =>
      !stored.some((each) => each.entityId === entityId && each.currency === currency && each.gap === gap),
  )
  const createDate = formatInstant(nowMs)
  if (news.length > 0)
    await db.run(moneyGaps.insert(news.map((row) => ({ ...row, id: newId(nowMs), createDate }))))
  return news
}
