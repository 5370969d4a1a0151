import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

export type SponsoredGas = {
  entityId: string
  blockchain: string
  userOpHash: string
  walletId: string
  gas: bigint
  expireDate: string
  createDate: string
}

/** Serializes the sponsorships of an entity on a chain, until the `tx` ends. */
export const lockSponsorships = (tx: Db, entityId: string, blockchain: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`sponsorships:${entityId}:${blockchain}`}, 0))`)

/**
 * The gas that an entity sponsored on a chain since a time, for all its wallets and for one. What expired before a block held it
 * does not count: nothing can use it.
 */
export const sponsoredSince = (
  db: Db,
  { entityId, blockchain, walletId }: Pick<SponsoredGas, 'entityId' | 'blockchain' | 'walletId'>,
  sinceMs: number,
  nowMs: number,
) =>
  db.one<{
    ofEntity: bigint
    ofWallet: bigint
  }>(sql`select coalesce(sum(coalesce(s.gas_used, s.gas)), 0) as "ofEntity",
      coalesce(sum(coalesce(s.gas_used, s.gas)) filter (where s.wallet_id = ${walletId}), 0) as "ofWallet"
    from sponsorships s
    where s.entity_id = ${entityId} and s.blockchain = ${blockchain} and s.create_date > ${formatInstant(sinceMs)}
      and (s.gas_used is not null or s.expire_date > ${formatInstant(nowMs)})`)

/** Inserts a sponsorship. The time at which it ends is part of the hash, so that each has its own. */
export const insertSponsorship = (tx: Db, row: SponsoredGas) =>
  tx.run(sql`insert into sponsorships (entity_id, blockchain, user_op_hash, wallet_id, gas, expire_date, create_date)
    values (${row.entityId}, ${row.blockchain}, ${row.userOpHash}, ${row.walletId}, ${row.gas.toString()}, ${row.expireDate},
      ${row.createDate})
    on conflict (entity_id, blockchain, user_op_hash) do nothing`)

export const isSponsored = async (
  db: Db,
  { entityId, blockchain, userOpHash }: Pick<SponsoredGas, 'entityId' | 'blockchain' | 'userOpHash'>,
): Promise<boolean> =>
  (await db.maybe(sql`select 1 from sponsorships where entity_id = ${entityId} and blockchain = ${blockchain}
    and user_op_hash = ${userOpHash}`)) !== undefined

type UsedGas = { entityId: string; userOpHash: string; gasUsed: bigint | null }

/** Sets what executed operations used, or null for those of an orphaned block. */
export const setUsedGas = (tx: Db, blockchain: string, rows: readonly UsedGas[]) =>
  tx.run(sql`update sponsorships s set gas_used = n.g
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.userOpHash)}::text[],
      ${rows.map((row) => row.gasUsed?.toString() ?? null)}::numeric[]) as n(e, h, g)
    where s.entity_id = n.e and s.blockchain = ${blockchain} and s.user_op_hash = n.h`)

/** Counts all the gas of operations that made bundles fail: the treasury paid for those. */
export const countWholly = (
  tx: Db,
  blockchain: string,
  rows: readonly Pick<SponsoredGas, 'entityId' | 'userOpHash'>[],
) =>
  tx.run(sql`update sponsorships s set gas_used = s.gas
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.userOpHash)}::text[]) as n(e, h)
    where s.entity_id = n.e and s.blockchain = ${blockchain} and s.user_op_hash = n.h`)
