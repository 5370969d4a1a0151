import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { type AccountKind, type AccountName, accountKey, ensureAccounts, type Unit } from './accounts.ts'

export type Entry = Unit & { kind: AccountKind; address?: string; amountAtomic: bigint }

/** One fact; the amounts of its entries sum to zero for each token and currency. */
export type Posting = {
  entityId: string
  blockchain: string
  blockHash: string
  /** The name of the fact, unique within its block and entity. */
  fact: string
  entries: readonly Entry[]
}

/** Books facts, many at once. Zero entries are dropped, entries of one account are merged. */
export async function post(tx: Db, nowMs: number, postings: readonly Posting[]): Promise<void> {
  const booked = postings
    .map((posting) => ({ posting, id: newId(nowMs), lines: merged(posting) }))
    .filter(({ lines }) => lines.length > 0)
  if (booked.length === 0) return
  const accounts = await ensureAccounts(
    tx,
    nowMs,
    booked.flatMap(({ lines }) => lines.map(({ name }) => name)),
  )
  const at = formatInstant(nowMs)
  await tx.run(sql`insert into postings (entity_id, id, blockchain, block_hash, fact, create_date)
    select *, ${at}::timestamptz from unnest(${booked.map(({ posting }) => posting.entityId)}::uuid[],
      ${booked.map(({ id }) => id)}::uuid[], ${booked.map(({ posting }) => posting.blockchain)}::text[],
      ${booked.map(({ posting }) => posting.blockHash)}::text[], ${booked.map(({ posting }) => posting.fact)}::text[])`)
  const rows = booked.flatMap(({ posting, id, lines }) =>
    lines.map(({ name, amountAtomic }) => ({
      entityId: posting.entityId,
      id,
      account: accounts.get(accountKey(name))!,
      amountAtomic,
    })),
  )
  await tx.run(sql`insert into entries (entity_id, posting_id, account_id, amount, create_date)
    select *, ${at}::timestamptz from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.account)}::uuid[], ${rows.map((row) => row.amountAtomic.toString())}::numeric[])`)
}

type AccountChange = { name: AccountName; amountAtomic: bigint }

function merged({ entityId, blockchain, entries }: Posting): AccountChange[] {
  const lines = new Map<string, AccountChange>()
  for (const { amountAtomic, address = '', ...entry } of entries) {
    const name = { ...entry, entityId, blockchain, address }
    const before = lines.get(accountKey(name))?.amountAtomic ?? 0n
    lines.set(accountKey(name), { name, amountAtomic: before + amountAtomic })
  }
  return [...lines.values()].filter(({ amountAtomic }) => amountAtomic !== 0n)
}

/** Reverses every posting of an orphaned block that is not reversed yet. */
export async function reversePostings(
  tx: Db,
  nowMs: number,
  blockchain: string,
  blockHash: string,
): Promise<void> {
  const open = await tx.all<{
    entityId: string
    id: string
  }>(sql`select p.entity_id, p.id from postings p
    where p.blockchain = ${blockchain} and p.block_hash = ${blockHash} and p.reverses_id is null
      and not exists (select 1 from postings r where r.entity_id = p.entity_id and r.reverses_id = p.id)`)
  if (open.length === 0) return
  const at = formatInstant(nowMs)
  await perEntity(open, async (entityId, own) => {
    const originals = own.map((row) => row.id)
    const reversed = sql`unnest(${originals}::uuid[], ${own.map(() => newId(nowMs))}::uuid[]) as n(o, i)`
    await tx.run(sql`select 1 from accounts a where a.entity_id = ${entityId} and a.id in (
        select x.account_id from unnest(${originals}::uuid[]) as n(o)
        join entries x on x.entity_id = ${entityId} and x.posting_id = n.o)
      order by a.id for no key update`)
    await tx.run(sql`insert into postings (entity_id, id, blockchain, block_hash, fact, reverses_id, create_date)
      select p.entity_id, n.i, p.blockchain, p.block_hash, 'reversal:' || p.fact, p.id, ${at}
      from ${reversed} join postings p on p.entity_id = ${entityId} and p.id = n.o`)
    await tx.run(sql`insert into entries (entity_id, posting_id, account_id, amount, create_date)
      select x.entity_id, n.i, x.account_id, -x.amount, ${at}
      from ${reversed} join entries x on x.entity_id = ${entityId} and x.posting_id = n.o`)
    return []
  })
}
