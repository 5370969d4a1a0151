import { type Db, sql } from '#runtime/db/db'
import { claimInTurns } from '#runtime/turns/claim'
import type { Turn } from '#runtime/turns/store'
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

export type EndedSweep = Sweep & { status: 'complete' | 'failed'; errorReason: string | null }

/**
 * Ends the sweeps whose transaction has ended, in a block up to `completeTo` or in none, round-robin over tenants. The coins of a
 * failed sweep can be swept again. `proceed` is part of the `tx` that ended those of one tenant.
 */
export const endSweeps = (
  db: Db,
  turn: Turn,
  { blockchain, completeTo }: { blockchain: string; completeTo: number },
  at: string,
  limit: number,
  proceed: (tx: Db, ended: readonly EndedSweep[]) => Promise<unknown>,
): Promise<EndedSweep[]> =>
  claimInTurns<EndedSweep>(
    db,
    turn,
    {
      from: sql`sweeps s join platform_transactions t using (entity_id, id)`,
      alias: 's',
      where: () => sql`s.blockchain = ${blockchain} and s.status = 'pending' and ${hasEnded(completeTo)}`,
      order: sql`s.id`,
      columns: sql`s.id, t.error_reason, case when t.state = 'COMPLETE' then 'complete' else 'failed' end as status,
        case when t.state = 'COMPLETE' then null else now() end as failed_at`,
      change: (entityId) => sql`update sweeps s set status = taken.status, update_date = ${at},
          failed_at = taken.failed_at
        from taken where s.entity_id = ${entityId} and s.id = taken.id
        returning s.entity_id, s.id, s.blockchain, s.token_id, s.from_address, s.to_address, s.amount, s.status,
          taken.error_reason`,
      async proceed(tx, ended) {
        await releaseCredits(tx, ended)
        await proceed(tx, ended)
      },
    },
    limit,
  )

/** Lets the coins of those of these sweeps of one tenant that failed be swept again. */
async function releaseCredits(tx: Db, ended: readonly EndedSweep[]): Promise<void> {
  const failed = ended.filter(({ status }) => status === 'failed')
  if (failed.length === 0) return
  await tx.run(sql`update credits set sweep_id = null
    where entity_id = ${failed[0]!.entityId} and sweep_id = any(${failed.map(({ id }) => id)}::uuid[])`)
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
