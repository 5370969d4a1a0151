import type { WalletCore } from '#custody/wallets/index'
import { type Db, sql } from '#runtime/db/db'
import type { Ref } from './transactions.ts'

/**
 * Serializes the requests to upgrade a wallet, until the `tx` ends. The wallet's row is not locked: the `tx` that completes
 * an upgrade changes it, and holds accounts that a request waits for.
 */
export const lockUpgrades = (tx: Db, entityId: string, walletId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`upgrade:${entityId}:${walletId}`}, 0))`)

/** The upgrade of a wallet that has not ended. */
export const upgradeUnderWay = (db: Db, entityId: string, walletId: string) =>
  db.maybe<{ id: string }>(sql`select t.id from transactions t where t.entity_id = ${entityId}
    and t.wallet_id = ${walletId} and t.new_core is not null
    and t.state not in ('COMPLETE', 'FAILED', 'DENIED', 'CANCELLED') limit 1`)

/** The versions that completed upgrades give the wallets of these upgrades; null without one. */
export const coresOfWallets = (db: Db, upgrades: readonly Ref[]) =>
  db.all<WalletCore>(sql`select distinct t.entity_id, t.wallet_id, (
      select u.new_core from transactions u where u.entity_id = t.entity_id and u.wallet_id = t.wallet_id
        and u.new_core is not null and u.state = 'COMPLETE' order by u.block_number desc limit 1) as core
    from unnest(${upgrades.map((ref) => ref.entityId)}::uuid[], ${upgrades.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join transactions t on t.entity_id = n.e and t.id = n.i`)
