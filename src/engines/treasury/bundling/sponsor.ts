import type { Network } from '#chains/network'
import type { EngineCtx } from '#engines/ctx'
import { findSponsor, insertSponsor, type Sponsor } from '#engines/transactions/index'
import { formatInstant } from '#lib/time'
import type { TreasuryRow } from '../store/treasuries.ts'
import { requireTreasury } from '../treasuries.ts'

/** Returns the treasury that pays the gas of an entity's smart accounts on a network, set on first use in `ctx.db`'s tx. */
export async function requireSponsor(ctx: EngineCtx, entityId: string, network: Network): Promise<Sponsor> {
  const { blockchain } = network
  const found = await findSponsor(ctx.db, entityId, blockchain)
  if (found) return found
  const { id: treasuryId, keyId, address } = await requireTreasury(ctx, entityId, network)
  const createDate = formatInstant(ctx.clock.nowMs())
  const sponsor = { entityId, blockchain, treasuryId, keyId, address }
  await insertSponsor(ctx.db, { ...sponsor, createDate })
  return sponsor
}

export const treasuryOf = (
  { entityId, blockchain, treasuryId: id, keyId, address }: Sponsor,
  family: string,
): TreasuryRow => ({ entityId, id, blockchain, family, address, keyId })
