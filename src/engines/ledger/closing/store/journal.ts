import { firstIdAt } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, type Sql, sql } from '#runtime/db/db'
import type { AccountKind } from '../../store/accounts.ts'
import { currencyDecimals } from '../../store/money.ts'

/** Postings, or lines of a statement, that are read at once. */
const pageMax = 500
const dayMs = 86_400_000

/** A range of days of one entity, both ends included, as texts such as 2026-11-30. */
type DayRange = { entityId: string; from: string; to: string }

const startMs = (day: string) => Date.parse(`${day}T00:00:00.000Z`)
const instantOf = (day: string) => formatInstant(startMs(day))
const startOf = (day: string) => firstIdAt(startMs(day))
const endOf = (day: string) => firstIdAt(startMs(day) + dayMs)

/** One line of a posting. */
export type JournalLine = {
  day: string
  postingId: string
  createDate: string
  blockchain: string
  /** Empty for a posting without a block. */
  blockHash: string
  fact: string
  kind: AccountKind
  address: string
  currency: string | null
  symbol: string | null
  tokenAddress: string | null
  itemId: bigint | null
  decimals: number
  amountAtomic: bigint
}

const unitColumns = sql`a.kind, a.address, a.currency, coalesce(nullif(t.symbol, ''), c.symbol) as symbol,
  t.address as token_address, t.item_id, coalesce(t.decimals, ${currencyDecimals}) as decimals`
const unitTables = sql`left join tokens t on t.id = a.token_id left join tokens c on c.id = t.collection_id`

/** The postings of one day, after one of them. Ids of postings begin with their date. */
const postingsOf = (entityId: string, day: string, after: string): Sql => sql`
  (select p.id from postings p
    where p.entity_id = ${entityId} and p.id >= ${startOf(day)} and p.id < ${endOf(day)} and p.id > ${after}
      and not exists (select 1 from late_postings l where l.entity_id = p.entity_id and l.posting_id = p.id)
    order by p.id limit ${pageMax})
  union all
  (select l.posting_id from late_postings l
    where l.entity_id = ${entityId} and l.day = ${day}::date and l.posting_id > ${after}
    order by l.posting_id limit ${pageMax})`

const noId = '00000000-0000-0000-0000-000000000000'

/** The lines of the journal, day by day, and in a day posting by posting in the order of their ids. */
export async function* journalLines(db: Db, { entityId, from, to }: DayRange): AsyncIterable<JournalLine> {
  for (let day = from; day <= to; day = dayAfter(day))
    for (let after = noId; ; ) {
      const lines = await db.all<JournalLine>(sql`with chosen as materialized (
          select id from (${postingsOf(entityId, day, after)}) each order by id limit ${pageMax})
        select ${day}::text as day, p.id as posting_id, p.create_date, p.blockchain, p.block_hash, p.fact, ${unitColumns},
          e.amount as amount_atomic
        from chosen join postings p on p.entity_id = ${entityId} and p.id = chosen.id
        join entries e on e.entity_id = p.entity_id and e.posting_id = p.id
        join accounts a on a.entity_id = e.entity_id and a.id = e.account_id ${unitTables}
        order by p.id, a.kind, a.address, e.account_id`)
      yield* lines
      const last = lines.at(-1)
      if (!last || new Set(lines.map(({ postingId }) => postingId)).size < pageMax) break
      after = last.postingId
    }
}

export const dayAfter = (day: string): string => new Date(startMs(day) + dayMs).toISOString().slice(0, 10)

/** An account of an entity, as exports name it. */
export type ExportedAccount = Pick<
  JournalLine,
  'kind' | 'address' | 'blockchain' | 'currency' | 'symbol' | 'tokenAddress' | 'itemId' | 'decimals'
> & { id: string }

/** The accounts of these kinds, of one address or of all, that were opened before the end of a day; in the order of their ids. */
export async function* exportedAccounts(
  db: Db,
  { entityId, to }: DayRange,
  { kinds, address }: { kinds: readonly AccountKind[]; address?: string | undefined },
): AsyncIterable<ExportedAccount> {
  for (let after = noId; ; ) {
    const found = await db.all<ExportedAccount>(sql`select a.id, a.blockchain, ${unitColumns}
      from accounts a ${unitTables}
      where a.entity_id = ${entityId} and a.id > ${after} and a.id < ${endOf(to)} and a.kind = any(${kinds}::text[])
        and (${address ?? null}::text is null or a.address = ${address ?? null})
      order by a.id limit ${pageMax}`)
    yield* found
    if (found.length < pageMax) return
    after = found.at(-1)!.id
  }
}

/** The balance of an account at the beginning of a day: the present one, less what belongs to that day and later ones. */
export const openingOf = async (db: Db, { entityId, from }: DayRange, accountId: string): Promise<bigint> =>
  (
    await db.one<{ opening: bigint }>(sql`select a.posted
        - coalesce((select sum(e.amount) from entries e where e.entity_id = a.entity_id and e.account_id = a.id
          and e.create_date >= ${instantOf(from)}), 0)
        - coalesce((select sum(e.amount) from late_postings l join entries e
            on e.entity_id = l.entity_id and e.posting_id = l.posting_id and e.account_id = a.id
          where l.entity_id = a.entity_id and l.day >= ${from}::date
            and e.create_date < ${instantOf(from)}), 0) as opening
      from accounts a where a.entity_id = ${entityId} and a.id = ${accountId}`)
  ).opening

/** A change of one account; `payer` is an address that takes part in the posting. */
export type StatementLine = Pick<
  JournalLine,
  'day' | 'postingId' | 'createDate' | 'blockHash' | 'fact' | 'amountAtomic'
> & {
  payer: string | null
}

/**
 * The changes of an account in the days of the range, in the order of days and postings. Each page begins in the index where the one
 * before ended: ids of postings begin with their date, and late postings of a day are older than its own. `offset 0` keeps each of these a
 * look-up by its primary key.
 */
export async function* statementLines(
  db: Db,
  { entityId, from, to }: DayRange,
  accountId: string,
): AsyncIterable<StatementLine> {
  for (let after = { day: from, postingId: noId, createDate: instantOf(from) }; ; ) {
    const lines = await db.all<StatementLine>(sql`with own as (
        (select (e.create_date at time zone 'UTC')::date as day, e.posting_id, e.amount from entries e
          where e.entity_id = ${entityId} and e.account_id = ${accountId} and e.posting_id > ${after.postingId}::uuid
            and e.create_date >= greatest(${instantOf(after.day)}::timestamptz, ${after.createDate}::timestamptz)
            and e.create_date < ${instantOf(dayAfter(to))}
            and not exists (select 1 from late_postings l where l.entity_id = e.entity_id and l.posting_id = e.posting_id)
          order by e.create_date, e.posting_id limit ${pageMax})
        union all
        (select l.day, l.posting_id, e.amount from late_postings l cross join lateral (select x.amount from entries x
            where x.entity_id = l.entity_id and x.posting_id = l.posting_id and x.account_id = ${accountId} offset 0) e
          where l.entity_id = ${entityId} and l.day <= ${to}::date
            and (l.day, l.posting_id) > (${after.day}::date, ${after.postingId}::uuid)
          order by l.day, l.posting_id limit ${pageMax})
      ), chosen as materialized (select * from own order by day, posting_id limit ${pageMax})
      select chosen.day::text as day, p.id as posting_id, p.create_date, p.block_hash, p.fact, chosen.amount as amount_atomic,
        (select min(o.address) from entries x join accounts o on o.entity_id = x.entity_id and o.id = x.account_id
          where x.entity_id = p.entity_id and x.posting_id = p.id and o.kind = 'address') as payer
      from chosen join postings p on p.entity_id = ${entityId} and p.id = chosen.posting_id
      order by chosen.day, p.id`)
    yield* lines
    const last = lines.at(-1)
    if (!last || lines.length < pageMax) return
    after = last
  }
}
