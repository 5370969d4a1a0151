import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import type { Ref } from './transactions.ts'

/** The gas that a treasury pays for one operation that it bundles. Dates are as shown; without an `expireDate` it stays open. */
export type PromisedGas = {
  entityId: string
  blockchain: string
  userOpHash: string
  walletId: string
  /** The transaction that the operation belongs to, if there is one. */
  transactionId: string | null
  gas: bigint
  /** Set where the account pays for the gas itself: the treasury pays for it only while no block holds the operation. */
  paidByAccount?: boolean
  expireDate: string | undefined
  createDate: string
}

/** Serializes the sponsorships of an entity on a chain, until the `tx` ends. */
export const lockSponsorships = (tx: Db, entityId: string, blockchain: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`sponsorships:${entityId}:${blockchain}`}, 0))`)

/**
 * The gas that an entity sponsors on a chain, for all its wallets and for one: open promises in full, and what blocks since a
 * time used, bundles that failed included. A promise that expired before a block held it does not count: nothing can use it.
 */
export const sponsoredGas = (
  db: Db,
  { entityId, blockchain, walletId }: Pick<PromisedGas, 'entityId' | 'blockchain' | 'walletId'>,
  sinceMs: number,
  nowMs: number,
) =>
  db.one<{ ofEntity: bigint; ofWallet: bigint }>(sql`select coalesce(sum(s.gas), 0) as of_entity,
      coalesce(sum(s.gas) filter (where s.wallet_id = ${walletId}), 0) as of_wallet
    from (select wallet_id, gas from sponsorships where entity_id = ${entityId} and blockchain = ${blockchain}
        and gas_used is null and expire_date > ${formatInstant(nowMs)}
      union all select wallet_id, gas_used from sponsorships where entity_id = ${entityId} and blockchain = ${blockchain}
        and gas_used is not null and used_date > ${formatInstant(sinceMs)}
      union all select wallet_id, failed_gas from sponsorships where entity_id = ${entityId} and blockchain = ${blockchain}
        and failed_date > ${formatInstant(sinceMs)}) s`)

/** Inserts sponsorships; that of a transaction which is signed again replaces the one before. */
export async function insertSponsorships(tx: Db, rows: readonly PromisedGas[]): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`insert into sponsorships as s (entity_id, blockchain, user_op_hash, wallet_id, transaction_id, gas,
      paid_by_account, expire_date, create_date)
    select * from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.blockchain)}::text[],
      ${rows.map((row) => row.userOpHash)}::text[], ${rows.map((row) => row.walletId)}::uuid[],
      ${rows.map((row) => row.transactionId)}::uuid[], ${rows.map((row) => row.gas.toString())}::numeric[],
      ${rows.map((row) => row.paidByAccount === true)}::boolean[], ${rows.map((row) => row.expireDate ?? 'infinity')}::timestamptz[],
      ${rows.map((row) => row.createDate)}::timestamptz[])
    on conflict (entity_id, transaction_id) where transaction_id is not null do update
      set user_op_hash = excluded.user_op_hash, gas = excluded.gas, expire_date = excluded.expire_date`)
}

/** The transactions among these whose gas is promised. */
export const promisedAmong = (db: Db, refs: readonly Ref[]) =>
  db.all<Ref>(sql`select s.entity_id, s.transaction_id as id
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join sponsorships s on s.entity_id = n.e and s.transaction_id = n.i
    where s.expire_date = 'infinity'`)

/** Releases the promises of transactions that ended without a bundle. */
export const releaseSponsorships = (tx: Db, nowMs: number, refs: readonly Ref[]) =>
  tx.run(sql`update sponsorships s set expire_date = ${formatInstant(nowMs)}
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    where s.entity_id = n.e and s.transaction_id = n.i`)

/** The gas that an executed operation used; null of one whose block was orphaned. */
type UsedGas = { entityId: string; userOpHash: string; gasUsed: bigint | null }

const usedAt = (nowMs: number, { isWhole }: { isWhole: boolean }) =>
  sql`gas_used = case when s.paid_by_account and n.g is not null then 0 when ${isWhole} and n.g is not null then greatest(s.gas, n.g) else n.g end, used_date = case when n.g is not null then ${formatInstant(nowMs)}::timestamptz end`

/** `isWhole`: the sponsor paid for all the gas that it promised, whatever was used. What an account paid for itself counts as none. */
export const setUsedGas = (
  tx: Db,
  nowMs: number,
  { blockchain, isWhole }: { blockchain: string; isWhole: boolean },
  rows: readonly UsedGas[],
) =>
  tx.run(sql`update sponsorships s set ${usedAt(nowMs, { isWhole })}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.userOpHash)}::text[],
      ${rows.map((row) => row.gasUsed?.toString() ?? null)}::numeric[]) as n(e, h, g)
    where s.entity_id = n.e and s.blockchain = ${blockchain} and s.user_op_hash = n.h`)

/**
 * The same for transactions: any one of the operations signed for a transaction counts, since only one can be executed.
 */
export const setUsedGasOf = (
  tx: Db,
  nowMs: number,
  { isWhole }: { isWhole: boolean },
  rows: readonly (Ref & Pick<UsedGas, 'gasUsed'>)[],
) =>
  tx.run(sql`update sponsorships s set ${usedAt(nowMs, { isWhole })}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.gasUsed?.toString() ?? null)}::numeric[]) as n(e, i, g)
    where s.entity_id = n.e and s.transaction_id = n.i`)

/** Adds the gas of a bundle that failed to its operations, in equal parts. */
export const addFailedGas = (tx: Db, nowMs: number, { entityId, id }: Ref, gasUsed: bigint) =>
  tx.run(sql`with carried as materialized (select entity_id, blockchain, user_op_hash from operations
      where entity_id = ${entityId} and bundle_id = ${id})
    update sponsorships s set failed_date = ${formatInstant(nowMs)},
      failed_gas = s.failed_gas + ceil(${gasUsed.toString()}::numeric / (select count(*) from carried))
    from carried o
    where s.entity_id = o.entity_id and s.blockchain = o.blockchain and s.user_op_hash = o.user_op_hash`)

/** Counts all the gas of operations that made bundles fail: the treasury paid for those. */
export const countWholly = (
  tx: Db,
  nowMs: number,
  blockchain: string,
  rows: readonly Pick<PromisedGas, 'entityId' | 'userOpHash'>[],
) =>
  tx.run(sql`update sponsorships s set gas_used = s.gas, used_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.userOpHash)}::text[]) as n(e, h)
    where s.entity_id = n.e and s.blockchain = ${blockchain} and s.user_op_hash = n.h`)
