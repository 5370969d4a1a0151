import { type Db, sql } from '#runtime/db/db'
import { inTurns, served, type Turn } from '#runtime/turns/store'
import { hasEnded, type SentTransaction } from '../store/platform-transactions.ts'

/** Coins on their way from a deposit address to the treasury. */
type Sweep = {
  entityId: string
  id: string
  blockchain: string
  tokenId: string
  fromAddress: string
  toAddress: string
  amount: bigint
}

/** Coins of one entity, chain and token. */
export type Coins = { entityId: string; blockchain: string; tokenId: string }

/** Serializes sweeps of these coins until the `tx` ends. */
export const lockSweeping = (tx: Db, { entityId, blockchain, tokenId }: Coins) =>
  tx.run(
    sql`select pg_advisory_xact_lock(hashtextextended(${`sweep:${entityId}:${blockchain}:${tokenId}`}, 0))`,
  )

/** The total amount of sweeps that no block holds yet. */
export async function sweepingAmount(db: Db, { entityId, blockchain, tokenId }: Coins): Promise<bigint> {
  const row = await db.one<{ amount: bigint }>(sql`select coalesce(sum(s.amount), 0) as amount from sweeps s
    join platform_transactions t on t.entity_id = s.entity_id and t.id = s.id
    where s.blockchain = ${blockchain} and s.entity_id = ${entityId} and s.token_id = ${tokenId}
      and s.status = 'pending' and t.state not in ('CONFIRMED', 'COMPLETE')`)
  return row.amount
}

/** The total amount of credited coins that are at deposit addresses and not swept yet. */
export async function unsweptAmount(db: Db, { entityId, blockchain, tokenId }: Coins): Promise<bigint> {
  const row = await db.one<{ amount: bigint }>(sql`select coalesce(sum(amount), 0) as amount from credits
    where entity_id = ${entityId} and blockchain = ${blockchain} and token_id = ${tokenId} and sweep_id is null`)
  return row.amount
}

export type Unswept = { address: string; amount: bigint; creditIds: string[] }

/**
 * Deposit addresses with credited coins not swept yet, the richest first. Skips addresses whose sweep failed less than
 * `restMs` ago, in database time.
 */
export const unsweptOf = (tx: Db, { entityId, blockchain, tokenId }: Coins, restMs: number, limit: number) =>
  tx.all<Unswept>(sql`select c.address, sum(c.amount) as amount, array_agg(c.id) as credit_ids from credits c
    where c.entity_id = ${entityId} and c.blockchain = ${blockchain} and c.token_id = ${tokenId} and c.sweep_id is null
      and not exists (select 1 from sweeps s where s.entity_id = c.entity_id and s.blockchain = c.blockchain
        and s.from_address = c.address and s.token_id = c.token_id and s.status = 'failed'
        and s.failed_at > now() - ${restMs} * interval '1 millisecond')
    group by c.address order by 2 desc limit ${limit}`)

export async function insertSweep(
  tx: Db,
  sweep: Sweep,
  creditIds: readonly string[],
  at: string,
): Promise<void> {
  await tx.run(sql`insert into sweeps (entity_id, id, status, blockchain, token_id, from_address, to_address, amount,
      create_date, update_date)
    values (${sweep.entityId}, ${sweep.id}, 'pending', ${sweep.blockchain}, ${sweep.tokenId}, ${sweep.fromAddress},
      ${sweep.toAddress}, ${sweep.amount.toString()}, ${at}, ${at})`)
  await tx.run(sql`update credits set sweep_id = ${sweep.id}
    where entity_id = ${sweep.entityId} and id = any(${creditIds}::uuid[]) and sweep_id is null`)
}

/**
 * Ends the sweeps whose transaction has ended, in a block up to `completeTo` or in none. The coins of a failed sweep can be
 * swept again.
 */
export async function endSweeps(
  tx: Db,
  turn: Turn,
  blockchain: string,
  completeTo: number,
  at: string,
  limit: number,
): Promise<(Sweep & { status: 'complete' | 'failed'; errorReason: string | null })[]> {
  const where = sql`s.blockchain = ${blockchain} and s.status = 'pending'`
  const rows = sql`select s.entity_id, s.id from sweeps s
    join platform_transactions t on t.entity_id = s.entity_id and t.id = s.id
    where ${where} and s.entity_id = turn.entity_id and ${hasEnded(completeTo)} order by s.id`
  const ended = await tx.all<Sweep & { status: 'complete' | 'failed'; errorReason: string | null }>(sql`
    with chosen as materialized (${inTurns(turn, { from: sql`sweeps s`, where, rows }, limit)}),
    ended as materialized (
      select s.entity_id, s.id, t.error_reason,
        case t.state when 'COMPLETE' then 'complete' else 'failed' end as status
      from chosen join sweeps s on s.entity_id = chosen.entity_id and s.id = chosen.id
      join platform_transactions t on t.entity_id = s.entity_id and t.id = s.id
      where ${where} and ${hasEnded(completeTo)} order by s.entity_id, s.id for update of s skip locked
    )
    update sweeps u set status = t.status, update_date = ${at},
      failed_at = case t.status when 'failed' then now() end
    from ended t where u.entity_id = t.entity_id and u.id = t.id
    returning u.entity_id, u.id, u.blockchain, u.token_id, u.from_address, u.to_address, u.amount, u.status,
      t.error_reason`)
  served(turn, ended)
  const failed = ended.filter(({ status }) => status === 'failed')
  await tx.run(sql`update credits c set sweep_id = null
    from unnest(${failed.map((row) => row.entityId)}::uuid[], ${failed.map((row) => row.id)}::uuid[]) as n(e, i)
    where c.entity_id = n.e and c.sweep_id = n.i`)
  return ended
}

/** Reopens sweeps whose transaction's block was orphaned, regardless of how they ended. */
export const reopenSweeps = (tx: Db, blockchain: string, sent: readonly SentTransaction[], at: string) =>
  tx.all<{
    entityId: string
    id: string
  }>(sql`update sweeps s set status = 'pending', failed_at = null, update_date = ${at}
    from platform_transactions t
    where t.entity_id = s.entity_id and t.id = s.id and s.blockchain = ${blockchain} and s.status <> 'pending'
      and (t.entity_id, t.tx_hash) in (select * from unnest(${sent.map((row) => row.entityId)}::uuid[],
        ${sent.map((row) => row.txHash)}::text[]))
    returning s.entity_id, s.id`)

type SweepRef = { entityId: string; id: string }

/** The rows of these sweeps, and the credits that they take, as JSON texts, in which numbers keep every digit. */
export const copySweeps = (db: Db, refs: readonly SweepRef[]) =>
  db.all<{
    id: string
    copy: string
  }>(sql`select s.id, jsonb_build_object('kind', 'sweep', 'row', to_jsonb(s),
      'credits', (select coalesce(jsonb_agg(c.id), '[]') from credits c
        where c.entity_id = s.entity_id and c.sweep_id = s.id))::text as copy
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join sweeps s on s.entity_id = n.e and s.id = n.i`)

/** Restores sweeps whose transaction may have been sent, as pending, with the credits that are not swept by another one. */
export async function restoreSweeps(tx: Db, copies: readonly string[]): Promise<void> {
  const given = sql`unnest(${copies}::text[]) as n(text)`
  await tx.run(sql`insert into sweeps as s select distinct on (r.entity_id, r.id) r.* from ${given},
      row_of_copy(null::sweeps, n.text::jsonb->'row' || '{"status": "pending", "failed_at": null}') r
    order by r.entity_id, r.id
    on conflict (entity_id, id) do update set status = 'pending', failed_at = null where s.status = 'failed'`)
  await tx.run(sql`update credits c set sweep_id = (n.text::jsonb->'row'->>'id')::uuid
    from ${given}, jsonb_array_elements_text(n.text::jsonb->'credits') as swept(id)
    where c.entity_id = (n.text::jsonb->'row'->>'entity_id')::uuid and c.id = swept.id::uuid and c.sweep_id is null`)
}
