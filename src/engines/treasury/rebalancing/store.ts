import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, join, type Sql, sql } from '#runtime/db/db'
import { nullable, numeric, type RowOf, table, text, textOf, timestamptz, uuid } from '#runtime/db/table'
import { perEntity } from '#runtime/per-entity'
import { hasEnded, inProgress, type SentTransaction } from '../store/platform-transactions.ts'
import type { Coins } from '../sweeping/store.ts'

/** Amounts in base units of the stablecoin. */
export type RebalancingPolicy = { messageMax: bigint; reserve: bigint }

export const rebalancingStatuses = [
  'collecting',
  'approving',
  'burning',
  'minting',
  'complete',
  'failed',
] as const
type RebalancingStatus = (typeof rebalancingStatuses)[number]

/** Coins on their way from the treasury on one chain to that on another; the transaction that burns has the same id. */
export type Rebalancing = RowOf<typeof rebalancings>

const rebalancings = table('rebalancings', {
  entityId: uuid,
  id: uuid,
  status: textOf<RebalancingStatus>(),
  currency: text,
  sourceBlockchain: text,
  sourceTokenId: uuid,
  /** The chain that lacks coins. */
  blockchain: text,
  tokenId: uuid,
  amount: numeric,
  approvalId: nullable(uuid),
  mintId: nullable(uuid),
  nonce: nullable(text),
  errorReason: nullable(text),
  createDate: timestamptz,
})

const columns = rebalancings.columns('r')

export const findPolicy = (db: Db, entityId: string) =>
  db.maybe<RebalancingPolicy>(sql`select message_max, reserve from rebalancing_policies
    where entity_id = ${entityId} and allowed`)

export const savePolicy = (
  tx: Db,
  entityId: string,
  { messageMax, reserve }: RebalancingPolicy,
  at: string,
) =>
  tx.run(sql`insert into rebalancing_policies (entity_id, message_max, reserve, update_date)
    values (${entityId}, ${messageMax.toString()}, ${reserve.toString()}, ${at})
    on conflict (entity_id) do update set message_max = excluded.message_max, reserve = excluded.reserve,
      allowed = true, update_date = excluded.update_date`)

/** Takes a policy back; it stays recorded. */
export const withdrawPolicy = (tx: Db, entityId: string, at: string) =>
  tx.run(
    sql`update rebalancing_policies set allowed = false, update_date = ${at} where entity_id = ${entityId}`,
  )

/** Records the first policy of an entity. False where it has or had one, which stays as its operator decided. */
export const saveFirstPolicy = async (
  tx: Db,
  entityId: string,
  { messageMax, reserve }: RebalancingPolicy,
  at: string,
): Promise<boolean> =>
  (await tx.maybe(sql`insert into rebalancing_policies (entity_id, message_max, reserve, update_date)
    values (${entityId}, ${messageMax.toString()}, ${reserve.toString()}, ${at})
    on conflict (entity_id) do nothing returning 1`)) !== undefined

/** Serializes the beginnings of an entity's rebalancings until the `tx` ends. */
export const lockRebalancings = (tx: Db, entityId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`rebalancing:${entityId}`}, 0))`)

/**
 * Whether the shortage has to do without another rebalancing: one is under way, or one failed less than `restMs` ago, in
 * database time.
 */
export const isRebalanced = async (
  tx: Db,
  { entityId, blockchain, tokenId }: Coins,
  restMs: number,
): Promise<boolean> =>
  (await tx.maybe(sql`select 1 from rebalancings where entity_id = ${entityId} and blockchain = ${blockchain}
      and token_id = ${tokenId} and ((status not in ('complete', 'failed') and not reopened)
        or (status = 'failed' and failed_at > now() - ${restMs} * interval '1 millisecond')) limit 1`)) !==
  undefined

/** The chain from which coins are on their way there. */
export const sourceUnderWay = async (
  db: Db,
  { entityId, blockchain, tokenId }: Coins,
): Promise<string | undefined> =>
  (
    await db.maybe<{ source: string }>(sql`select source_blockchain as source from rebalancings
      where entity_id = ${entityId} and blockchain = ${blockchain} and token_id = ${tokenId}
        and status not in ('complete', 'failed') and not reopened limit 1`)
  )?.source

/** Whether a rebalancing already takes coins from there. */
export const isSource = async (tx: Db, { entityId, blockchain, tokenId }: Coins): Promise<boolean> =>
  (await tx.maybe(sql`select 1 from rebalancings where entity_id = ${entityId} and source_blockchain = ${blockchain}
      and source_token_id = ${tokenId} and status in ('collecting', 'approving', 'burning') and not reopened limit 1`)) !==
  undefined

export const insertRebalancing = (
  tx: Db,
  row: Omit<Rebalancing, 'approvalId' | 'mintId' | 'nonce' | 'errorReason'>,
) =>
  tx.run(sql`insert into rebalancings (entity_id, id, status, currency, source_blockchain, source_token_id, blockchain,
      token_id, amount, create_date, update_date)
    values (${row.entityId}, ${row.id}, ${row.status}, ${row.currency}, ${row.sourceBlockchain}, ${row.sourceTokenId},
      ${row.blockchain}, ${row.tokenId}, ${row.amount.toString()}, ${row.createDate}, ${row.createDate})`)

export type RebalancingRef = { entityId: string; id: string }

/** Rebalancings that can come closer to their burn, the longest due first. An entity has one at most. */
export const rebalancingsToBurn = (db: Db, blockchain: string, completeTo: number, limit: number) =>
  db.all<RebalancingRef>(sql`select r.entity_id, r.id from rebalancings r
    where r.source_blockchain = ${blockchain} and r.next_attempt_at <= now() and (r.status = 'collecting'
      or (r.status = 'approving' and exists (select 1 from platform_transactions t
        where t.entity_id = r.entity_id and t.id = r.approval_id and (t.state = 'CONFIRMED' or ${hasEnded(completeTo)})))
      or (r.status = 'burning' and exists (select 1 from platform_transactions t
        where t.entity_id = r.entity_id and t.id = r.id and t.state <> 'COMPLETE' and ${hasEnded(completeTo)})))
    order by r.next_attempt_at, r.id limit ${limit}`)

/** Locks one until the `tx` ends; `undefined` while another worker has it, or once it has ended. */
export const lockOpen = (tx: Db, { entityId, id }: RebalancingRef) =>
  tx.maybe<Rebalancing>(sql`select ${columns} from rebalancings r where r.entity_id = ${entityId} and r.id = ${id}
    and r.status not in ('complete', 'failed') for update skip locked`)

/** Defers a rebalancing. */
export const postponeRebalancing = (db: Db, { entityId, id }: RebalancingRef, ms: number) =>
  db.run(sql`update rebalancings set next_attempt_at = now() + ${ms} * interval '1 millisecond'
    where entity_id = ${entityId} and id = ${id}`)

/** How the transaction of a step ended; `undefined` while it has not. */
export async function endingOf(
  tx: Db,
  entityId: string,
  id: string,
  completeTo: number,
): Promise<{ ok: true } | { ok: false; reason: string } | undefined> {
  const row = await tx.maybe<{ state: string; reason: string | null }>(sql`select t.state,
      coalesce(t.error_details, t.error_reason) as reason from platform_transactions t
    where t.entity_id = ${entityId} and t.id = ${id} and (t.state = 'CONFIRMED' or ${hasEnded(completeTo)})`)
  if (!row) return undefined
  if (row.state === 'CONFIRMED' || row.state === 'COMPLETE') return { ok: true }
  return { ok: false, reason: row.reason ?? `the transaction ended as ${row.state}` }
}

export const setApproving = (tx: Db, { entityId, id }: RebalancingRef, approvalId: string, at: string) =>
  tx.run(sql`update rebalancings set status = 'approving', approval_id = ${approvalId}, next_attempt_at = now(),
      update_date = ${at}
    where entity_id = ${entityId} and id = ${id}`)

export const setBurning = (tx: Db, { entityId, id }: RebalancingRef, at: string) =>
  tx.run(sql`update rebalancings set status = 'burning', next_attempt_at = now(), update_date = ${at}
    where entity_id = ${entityId} and id = ${id}`)

export const setFailed = (tx: Db, { entityId, id }: RebalancingRef, reason: string, at: string) =>
  tx.run(sql`update rebalancings set status = 'failed', error_reason = ${reason}, failed_at = now(), update_date = ${at}
    where entity_id = ${entityId} and id = ${id}`)

/** A rebalancing whose coins are burned and not minted yet, with the hash of the burn. */
export type BurnedRebalancing = Rebalancing & { burnTxHash: string }

/** The rebalancing needs a mint: none is recorded, or the last one ended without effect. `entityId` is its column, or its value. */
const lacksMint = (completeTo: number, entityId: Sql) => sql`r.status in ('burning', 'minting')
  and exists (select 1 from platform_transactions b where b.entity_id = r.entity_id and b.id = r.id
    and b.state in ('CONFIRMED', 'COMPLETE'))
  and (r.mint_id is null or exists (select 1 from platform_transactions t where t.entity_id = ${entityId}
    and t.id = r.mint_id and t.state <> 'COMPLETE' and ${hasEnded(completeTo)}))`

const burnedColumns = sql`${columns}, (select b.tx_hash from platform_transactions b
  where b.entity_id = r.entity_id and b.id = r.id) as burn_tx_hash`

/** Burned rebalancings that lack a mint on a chain, the longest due first. An entity has one at most, save after reorgs. */
export const rebalancingsToMint = (db: Db, blockchain: string, completeTo: number, limit: number) =>
  db.all<BurnedRebalancing>(sql`select ${burnedColumns} from rebalancings r
    where r.blockchain = ${blockchain} and r.next_attempt_at <= now() and ${lacksMint(completeTo, sql`r.entity_id`)}
    order by r.next_attempt_at, r.id limit ${limit}`)

/** Locks one of them until the `tx` ends; `undefined` once it has its mint, or while another worker has it. */
export const lockToMint = (tx: Db, { entityId, id }: RebalancingRef, completeTo: number) =>
  tx.maybe<Rebalancing>(sql`select ${columns} from rebalancings r
    where r.entity_id = ${entityId} and r.id = ${id} and ${lacksMint(completeTo, sql`${entityId}`)} for update skip locked`)

export const setMinting = (
  tx: Db,
  { entityId, id }: RebalancingRef,
  { mintId, nonce }: { mintId: string; nonce: string },
  at: string,
) =>
  tx.run(sql`update rebalancings set status = 'minting', mint_id = ${mintId}, nonce = ${nonce},
      next_attempt_at = now(), update_date = ${at}
    where entity_id = ${entityId} and id = ${id}`)

/** A mint that a block shows, or showed until it was orphaned. */
export type Minted = { entityId: string; id: string; nonce: string; amount: bigint; tokenId: string }

const mintedColumns = sql`entity_id, id, nonce, amount, token_id`

/** Completes the rebalancings whose messages a block delivers. */
export const completeMinted = (
  tx: Db,
  { blockchain, blockHash, nonces }: { blockchain: string; blockHash: string; nonces: readonly string[] },
  at: string,
) =>
  changeMinted(
    tx,
    sql`nonce = any(${nonces}::text[]) and blockchain = ${blockchain}`,
    sql`status = 'complete', minted_block_hash = ${blockHash}, update_date = ${at}`,
  )

/** Takes up again what an orphaned block completed: the same transaction is sent again and decides again. */
export const reopenMinted = (tx: Db, blockchain: string, blockHash: string, at: string) =>
  changeMinted(
    tx,
    sql`blockchain = ${blockchain} and minted_block_hash = ${blockHash}`,
    sql`status = 'minting', minted_block_hash = null, reopened = true, next_attempt_at = now(), update_date = ${at}`,
  )

/** Changes the rebalancings, of any entities, that the condition selects. */
async function changeMinted(tx: Db, isMeant: Sql, change: Sql): Promise<Minted[]> {
  const found = await tx.all<RebalancingRef>(sql`select entity_id, id from rebalancings where ${isMeant}`)
  return perEntity(found, (entityId, own) =>
    tx.all<Minted>(sql`update rebalancings set ${change}
      where entity_id = ${entityId} and id = any(${own.map(({ id }) => id)}::uuid[]) and ${isMeant}
      returning ${mintedColumns}`),
  )
}

/** Takes up again what failed because of a transaction whose block was orphaned. */
export const reopenBurns = (tx: Db, blockchain: string, sent: readonly SentTransaction[], at: string) =>
  tx.all<RebalancingRef>(sql`update rebalancings r set status = 'burning', reopened = true, error_reason = null,
      failed_at = null, next_attempt_at = now(), update_date = ${at}
    from platform_transactions t
    where t.entity_id = r.entity_id and t.id = r.id and r.source_blockchain = ${blockchain} and r.status = 'failed'
      and (t.entity_id, t.tx_hash) in (select * from unnest(${sent.map((row) => row.entityId)}::uuid[],
        ${sent.map((row) => row.txHash)}::text[]))
    returning r.entity_id, r.id`)

/** Rows to sum: amounts that are burned and not minted, less those that are minted while their burn is in no block. */
export const moving = join(
  [
    sql`select r.entity_id, r.currency, r.amount from rebalancings r
      join platform_transactions t on t.entity_id = r.entity_id and t.id = r.id
      where r.minted_block_hash is null and t.state in ('CONFIRMED', 'COMPLETE')`,
    sql`select r.entity_id, r.currency, -r.amount from ${inProgress} t
      join rebalancings r on r.entity_id = t.entity_id and r.id = t.id where r.minted_block_hash is not null`,
  ],
  ' union all ',
)

export const rebalancingsPage = (db: Db, entityId: string, page: PageQuery) =>
  readPage<Rebalancing>(
    db,
    {
      columns,
      from: sql`rebalancings r`,
      alias: 'r',
      scope: sql`r.entity_id = ${entityId}`,
      filters: [],
      hasDatedIds: true,
    },
    page,
  )

/**
 * The rebalancings of these transactions as JSON texts, in which numbers keep every digit. `step`: at least so far it is, because
 * the transaction was signed.
 */
export const copyRebalancings = (db: Db, refs: readonly RebalancingRef[]) =>
  db.all<{ id: string; copy: string }>(sql`select n.i as id, jsonb_build_object('kind', 'rebalancing',
      'step', case when r.mint_id is not null then 'minting' when r.id = n.i then 'burning' else 'approving' end,
      'row', to_jsonb(r))::text as copy
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join rebalancings r on r.entity_id = n.e and (r.id = n.i or r.approval_id = n.i or r.mint_id = n.i)`)

const stageOf = (status: Sql) =>
  sql`array_position(array['collecting', 'approving', 'burning', 'minting'], ${status})`

/** Whether another one of the entity is under way for the same shortage as `c`, or with the same allowance. */
const isTaken = (entityId: string) => sql`exists (select 1 from rebalancings o where o.entity_id = ${entityId}
  and o.id <> c.id and not o.reopened and (
    (o.blockchain = c.blockchain and o.token_id = c.token_id and o.status in ('collecting', 'approving', 'burning', 'minting'))
    or (o.source_blockchain = c.source_blockchain and o.source_token_id = c.source_token_id
      and o.status in ('collecting', 'approving', 'burning'))))`

/**
 * Restores a rebalancing of which a transaction may have been sent, or takes one that is not that far to its step. The mint that
 * was signed counts, and the latest of several. Returns it, unless it is complete. The caller has the lock of its entity.
 */
export async function restoreRebalancing(
  tx: Db,
  entityId: string,
  copy: string,
  at: string,
): Promise<Rebalancing | undefined> {
  const given = sql`(select ${copy}::jsonb as j) n, row_of_copy(null::rebalancings, n.j->'row'
    || jsonb_build_object('status', n.j->'step', 'minted_block_hash', null, 'error_reason', null, 'failed_at', null,
      'next_attempt_at', now(), 'update_date', ${at}::text)) c`
  const known = await tx.maybe<Rebalancing>(sql`update rebalancings r set
      status = case when ${stageOf(sql`c.status`)} > coalesce(${stageOf(sql`r.status`)}, 0) then c.status else r.status end,
      approval_id = coalesce(c.approval_id, r.approval_id),
      mint_id = case when c.mint_id is null or (c.mint_id < r.mint_id and exists (select 1 from platform_transactions t
          where t.entity_id = ${entityId} and t.id = r.mint_id and t.tx_hash is not null))
        then r.mint_id else c.mint_id end,
      nonce = coalesce(c.nonce, r.nonce), reopened = r.reopened or (r.status = 'failed' and ${isTaken(entityId)}),
      error_reason = null, failed_at = null, next_attempt_at = now(), update_date = c.update_date
    from ${given} where r.entity_id = ${entityId} and r.id = c.id and r.status <> 'complete' returning ${columns}`)
  if (known) return known
  return tx.maybe<Rebalancing>(sql`insert into rebalancings as r select f.* from ${given},
      jsonb_populate_record(c, jsonb_build_object('reopened', ${isTaken(entityId)})) f
    on conflict (entity_id, id) do nothing returning ${columns}`)
}
