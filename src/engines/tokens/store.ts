import { hasStepsToUndo, lockCanonical } from '#engines/indexer/index'
import type { UnlistedBalance } from '#engines/ledger/index'
import type { BalanceUnit } from '#engines/ledger/tokens/index'
import { type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { claimInTurns } from '#runtime/turns/claim'
import type { Turn } from '#runtime/turns/store'

/** The name under which this engine follows the steps of chains. */
export const tokenEngine = 'tokens'

/**
 * A balance that is compared with its contract. `waitedMs`: since its latest change. `risenAtomic`: how much of its rise has
 * proven no transfer yet.
 */
export type TokenCheck = UnlistedBalance & { waitedMs: number; risenAtomic: bigint }

/** A balance as its contract reports it. */
export type ToldBalance = TokenCheck & { unit: BalanceUnit; amountAtomic: bigint }

export type BlockOfChain = { blockchain: string; number: number; hash: string }

/** Identifies a balance in maps and sets. */
export const keyOf = ({ entityId, tokenId, address }: UnlistedBalance) => `${entityId}:${tokenId}:${address}`

const waitedMs = sql`(extract(epoch from now() - c.since) * 1000)::int8 as waited_ms`
const columns = sql`c.entity_id, c.token_id, c.address, ${waitedMs}, c.risen as risen_atomic`

/** Compares these balances as soon as the `tx` commits. */
export async function compareNow(
  tx: Db,
  blockchain: string,
  balances: readonly UnlistedBalance[],
): Promise<void> {
  if (balances.length === 0) return
  await tx.run(sql`insert into token_checks (entity_id, token_id, address, blockchain, due_at, since)
    select distinct on (e, t, a) e, t, a, ${blockchain}, now(), now()
    from unnest(${balances.map((row) => row.entityId)}::uuid[], ${balances.map((row) => row.tokenId)}::uuid[],
      ${balances.map((row) => row.address)}::text[]) as n(e, t, a) order by e, t, a
    on conflict (entity_id, token_id, address) do update set due_at = excluded.due_at, since = excluded.since`)
  await announce(tx, blockchain)
}

/** Maximum number of balances in unlisted tokens and items that logs of strangers make a wallet follow. */
export const followedMax = 1_000

/**
 * Selects the balances that are followed, or may be: of each owner as many as `max` leaves room for. A token that a request
 * names is followed regardless.
 */
export async function followable<Balance extends UnlistedBalance>(
  tx: Db,
  blockchain: string,
  balances: readonly Balance[],
  max = followedMax,
): Promise<ReadonlySet<string>> {
  const kept = await perEntity(balances, (entityId, own) =>
    tx.all<UnlistedBalance>(sql`with asked as materialized (
      select distinct on (t, a) t, a, k
      from unnest(${own.map((row) => row.tokenId)}::uuid[], ${own.map((row) => row.address)}::text[])
        with ordinality as n(t, a, k) order by t, a, k
    ), known as materialized (
      select n.*, exists (select 1 from token_checks c
        where c.entity_id = ${entityId} and c.token_id = n.t and c.address = n.a) as is_followed from asked n
    ), owners as materialized (
      select o.a, (select count(*) from (select 1 from token_checks c where c.entity_id = ${entityId}
        and c.blockchain = ${blockchain} and c.address = o.a limit ${max}) followed) as count
      from (select distinct a from known where not is_followed) o
    )
    select ${entityId}::uuid as entity_id, t as token_id, a as address from known where is_followed
    union all
    select ${entityId}::uuid, n.t, n.a from (select *, row_number() over (partition by a order by k) as place from known
      where not is_followed) n join owners o on o.a = n.a where n.place <= ${max} - o.count`),
  )
  return new Set(kept.map(keyOf))
}

/** Compares all balances of the senders of these transactions: a reverted transfer may have left no log. */
export async function compareSenders(
  tx: Db,
  blockchain: string,
  senders: readonly { entityId: string; address: string }[],
): Promise<void> {
  if (senders.length === 0) return
  await tx.run(sql`update token_checks c set due_at = now(), since = now()
    from unnest(${senders.map((row) => row.entityId)}::uuid[], ${senders.map((row) => row.address)}::text[]) as n(e, a)
    where c.entity_id = n.e and c.blockchain = ${blockchain} and c.address = n.a`)
  await announce(tx, blockchain)
}

/** Deletes what claims have not used of the rises of balances that were measured in this block or above it. */
export const forgetRises = (tx: Db, blockchain: string, blockNumber: number) =>
  tx.run(sql`update token_checks set risen = 0
    where blockchain = ${blockchain} and risen > 0 and block_number >= ${blockNumber}`)

const announce = (tx: Db, blockchain: string) => tx.run(sql`select pg_notify('token_checks', ${blockchain})`)

/** Claims due comparisons for `leaseMs`; entities take turns. */
export async function claimDueChecks(
  db: Db,
  turn: Turn,
  blockchain: string,
  limit: number,
  leaseMs: number,
): Promise<readonly TokenCheck[]> {
  const claim = {
    from: sql`token_checks c`,
    alias: 'c',
    where: () => sql`c.blockchain = ${blockchain} and c.due_at < 'infinity' and c.due_at <= now()`,
    order: sql`c.due_at`,
    columns: sql`c.token_id, c.address, ${waitedMs}`,
    change: (
      entityId: string,
    ) => sql`update token_checks c set due_at = now() + ${leaseMs} * interval '1 millisecond'
      from taken where c.entity_id = ${entityId} and c.token_id = taken.token_id and c.address = taken.address
      returning c.entity_id, c.token_id, c.address, taken.waited_ms, c.risen as risen_atomic`,
  }
  return claimInTurns<TokenCheck>(db, turn, claim, limit)
}

/** The balances of one wallet, or those of `tokenIds`, that may differ from their contracts; those that are due first. */
export const checksOf = (
  db: Db,
  owner: { entityId: string; blockchain: string; address: string },
  limit: number,
  tokenIds: readonly string[] | null = null,
) =>
  db.all<TokenCheck>(sql`select ${columns} from token_checks c
    where c.entity_id = ${owner.entityId} and c.blockchain = ${owner.blockchain} and c.address = ${owner.address}
      and c.due_at < 'infinity' and (${tokenIds}::uuid[] is null or c.token_id = any(${tokenIds}::uuid[]))
    order by c.due_at limit ${limit}`)

/** Whether all of these balances of an owner were compared with their contracts at least once. */
export const areCompared = async (
  db: Db,
  { entityId, address }: { entityId: string; address: string },
  tokenIds: readonly string[],
): Promise<boolean> => {
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count from token_checks
    where entity_id = ${entityId} and address = ${address} and token_id = any(${tokenIds}::uuid[])
      and block_number >= 0`)
  return count === new Set(tokenIds).size
}

/** The tokens and addresses of balances of one entity, as lists for `unnest`. */
const keysOf = (checks: readonly UnlistedBalance[]) =>
  sql`${checks.map((row) => row.tokenId)}::uuid[], ${checks.map((row) => row.address)}::text[]`

/**
 * Locks those of these comparisons that no newer block was used for: none while a reverted block is not undone here, since its
 * decisions would stand beside those of a second comparison.
 */
export async function lockChecks(
  tx: Db,
  checks: readonly UnlistedBalance[],
  { blockchain, number, hash }: BlockOfChain,
): Promise<TokenCheck[]> {
  if (!(await lockCanonical(tx, blockchain, hash)) || (await hasStepsToUndo(tx, tokenEngine, blockchain)))
    return []
  return perEntity(checks, (entityId, own) =>
    tx.all<TokenCheck>(sql`select ${columns} from unnest(${keysOf(own)}) as n(t, a)
      join token_checks c on c.entity_id = ${entityId} and c.token_id = n.t and c.address = n.a
      where c.block_number <= ${number} order by c.token_id, c.address for update of c`),
  )
}

type FinishedCheck = UnlistedBalance & {
  changed: boolean
  risenAtomic: bigint
  /** Until the next comparison; without it, the balance is compared after its next transfer only. */
  pauseMs: number | undefined
}

export const finishChecks = (tx: Db, checks: readonly FinishedCheck[], blockNumber: number) =>
  perEntity(checks, (entityId, own) =>
    tx.all(sql`with finished as materialized (
        select t, a, r, case when c then now() end as since,
          case when p is null then 'infinity' else now() + p * interval '1 millisecond' end as due_at
        from unnest(${keysOf(own)}, ${own.map(({ changed }) => changed)}::bool[],
          ${own.map(({ pauseMs }) => pauseMs ?? null)}::int8[],
          ${own.map(({ risenAtomic }) => risenAtomic.toString())}::numeric[]) as n(t, a, c, p, r)
      )
      update token_checks c set block_number = ${blockNumber}, since = coalesce(n.since, c.since), risen = n.r, due_at = n.due_at
      from finished n where c.entity_id = ${entityId} and c.token_id = n.t and c.address = n.a`),
  )

/** Repeats these comparisons after a tenth of the time that they have waited. */
export const postponeComparisons = (db: Db, checks: readonly UnlistedBalance[]) =>
  perEntity(checks, (entityId, own) =>
    db.all(sql`with late as materialized (
        select c.token_id, c.address, now()
          + least(interval '10 minutes', greatest(interval '0.5 seconds', (now() - c.since) / 10)) as due_at
        from unnest(${keysOf(own)}) as n(t, a)
        join token_checks c on c.entity_id = ${entityId} and c.token_id = n.t and c.address = n.a
      )
      update token_checks c set due_at = late.due_at from late
      where c.entity_id = ${entityId} and c.token_id = late.token_id and c.address = late.address`),
  )
