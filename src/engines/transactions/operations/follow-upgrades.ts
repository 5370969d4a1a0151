import { recordUpgrades } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import type { FollowedUpgrade } from '../store/chain-effects.ts'
import { coresOfWallets } from '../store/upgrades.ts'

/** Gives wallets the version that their completed upgrades leave, after some were completed or returned to SENT. */
export async function followUpgrades(
  ctx: EngineCtx,
  tx: Db,
  changed: readonly FollowedUpgrade[],
): Promise<void> {
  const upgrades = changed.filter(({ isUpgrade }) => isUpgrade)
  if (upgrades.length === 0) return
  await recordUpgrades(tx, ctx.clock.nowMs(), await coresOfWallets(tx, upgrades))
}
