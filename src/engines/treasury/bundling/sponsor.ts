import type { Network } from '#chains/network'
import type { EngineCtx } from '#engines/ctx'
import { findSponsor, insertSponsor, type Sponsor } from '#engines/transactions/index'
import { formatInstant } from '#lib/time'
import type { TreasuryRow } from '../store/treasuries.ts'
import { requireTreasury } from '../treasuries.ts'

/** Makes the treasury of an entity pay the gas of its smart accounts on a network, in `ctx.db`'s tx. */
export async function requireSponsor(ctx: EngineCtx, entityId: string, network: Network): Promise<void> {
  const { blockchain } = network
  if (await findSponsor(ctx.db, entityId, blockchain)) return
  const { id: treasuryId, keyId, address } = await requireTreasury(ctx, entityId, network)
  const createDate = formatInstant(ctx.clock.nowMs())
  await insertSponsor(ctx.db, { entityId, blockchain, treasuryId, keyId, address, createDate })
}

export const treasuryOf = (
  { entityId, blockchain, treasuryId: id, keyId, address }: Sponsor,
  family: string,
): TreasuryRow => ({ entityId, id, blockchain, family, address, keyId })
