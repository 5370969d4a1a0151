import { capabilitiesOf } from '#chains/capabilities'
import { bookedAmount, paysForGas } from '#chains/network'
import { type Network, requireNetwork } from '#chains/networks/index'
import { createPlatformKey, watchAddress } from '#custody/index'
import type { Signatory } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import { coinsByUse, type HeldAmount, openUnclaimedCoins } from '#engines/ledger/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { insertTreasury, lockTreasuries, type TreasuryRow, treasuriesOf } from './store/treasuries.ts'

/**
 * Returns the entity's treasury on a network, created and watched on first use in `ctx.db`'s tx. All networks of a family
 * share its key, so that there is one address to fund and to look up.
 */
export async function requireTreasury(
  ctx: EngineCtx,
  entityId: string,
  network: Network,
): Promise<TreasuryRow> {
  const { blockchain } = network
  const family = capabilitiesOf(blockchain).keys
  if (!family) throw new Error(`treasuries are not supported on ${blockchain}`)
  const isHere = (row: TreasuryRow) => row.blockchain === blockchain
  const found = (await treasuriesOf(ctx.db, entityId)).find(isHere)
  if (found) return found
  await lockTreasuries(ctx.db, entityId)
  const all = await treasuriesOf(ctx.db, entityId)
  const meanwhile = all.find(isHere)
  if (meanwhile) return meanwhile
  const kin = all.find((row) => row.family === family)
  const { keyId, address } = kin ?? (await createPlatformKey(ctx, { entityId, family }))
  const nowMs = ctx.clock.nowMs()
  const createDate = formatInstant(nowMs)
  const treasury = { entityId, id: newId(nowMs), blockchain, family, address, keyId }
  await insertTreasury(ctx.db, { ...treasury, createDate })
  await watchAddress(ctx.db, {
    entityId,
    blockchain,
    address,
    keyId,
    purpose: 'treasury',
    ownerId: treasury.id,
    createDate,
  })
  const { id: tokenId } = network.nativeToken
  if (paysForGas(network, tokenId))
    await openUnclaimedCoins(ctx.db, nowMs, { entityId, blockchain, address, tokenId })
  return treasury
}

/**
 * The coins of a treasury in a stablecoin that are not for its gas, in units of the contract, according to the applied blocks.
 * Where the stablecoin pays for gas, less than nothing is left of them when the coins for gas have been sent to payees.
 */
export async function coinsForPayments(
  db: Db,
  { entityId, blockchain, address }: TreasuryRow,
  tokenId: string,
): Promise<HeldAmount> {
  const { postedAtomic, heldAtomic } = (await coinsByUse(db, { entityId, address, tokenId })).forPayments
  const units = bookedAmount(requireNetwork(blockchain), tokenId, 1n)
  return { postedAtomic: postedAtomic / units, heldAtomic: heldAtomic / units }
}

/** The same less what payments hold. */
export async function treasuryCoins(db: Db, treasury: TreasuryRow, tokenId: string): Promise<bigint> {
  const { postedAtomic, heldAtomic } = await coinsForPayments(db, treasury, tokenId)
  return postedAtomic - heldAtomic
}

/** A treasury as a signatory of custody: the policies of its entity apply. */
export const signatoryOf = ({ id, keyId, address }: TreasuryRow): Signatory => ({
  id,
  walletSetId: id,
  keyId,
  address,
  state: 'LIVE',
})
