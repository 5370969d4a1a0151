import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { accountsOn } from '#chains/facets/optional'
import { watchAddress } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import {
  findSponsor,
  insertSponsor,
  type Sponsor,
  setPaymaster,
  setUsdcPaymaster,
  unregisteredSponsors,
} from '#engines/transactions/operations/index'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import type { TreasuryRow } from './store/treasuries.ts'
import { requireTreasury } from './treasuries.ts'

/**
 * Returns the treasury that pays for an entity's wallets on a chain, set on first use in `ctx.db`'s tx: the gas of smart accounts,
 * through its paymaster, or fees of wallets that lack the coins.
 */
export async function requireSponsor(ctx: EngineCtx, entityId: string, chain: Chain): Promise<Sponsor> {
  const { network } = chain
  const { blockchain } = network
  const found = await findSponsor(ctx.db, entityId, blockchain)
  if (found) return found
  const { id: treasuryId, keyId, address } = await requireTreasury(ctx, entityId, network)
  const sponsor = { entityId, blockchain, treasuryId, keyId, address }
  const paymaster = chain.accounts?.paymasterOf(address).address ?? null
  const createDate = formatInstant(ctx.clock.nowMs())
  const isNew = await insertSponsor(ctx.db, { ...sponsor, paymaster, createDate })
  if (isNew && paymaster !== null) await watchPaymaster(ctx.db, sponsor, paymaster, createDate)
  return sponsor
}

/**
 * Returns the sponsor of an entity on a chain, and its paymaster that takes USDC, whose deposit and USDC are booked from now on.
 * `undefined` where there can be none.
 */
export async function openUsdcPaymaster(ctx: EngineCtx, entityId: string, chain: Chain) {
  const sponsor = await requireSponsor(ctx, entityId, chain)
  const creation = chain.accounts?.usdcPaymasters.of(sponsor.address as Address)
  if (!creation) return undefined
  if (await setUsdcPaymaster(ctx.db, sponsor, creation.address))
    await watchPaymaster(ctx.db, sponsor, creation.address, formatInstant(ctx.clock.nowMs()))
  return { sponsor, creation }
}

/** From now on the deposit of the paymaster is booked. */
const watchPaymaster = (
  tx: Db,
  { entityId, blockchain, treasuryId }: Sponsor,
  address: string,
  createDate: string,
) =>
  watchAddress(tx, {
    entityId,
    blockchain,
    address,
    createDate,
    keyId: null,
    purpose: 'paymaster',
    ownerId: treasuryId,
  })

const registeredMax = 100

/** Registers the paymasters of sponsors from before deposits were booked; the reconciler books what they have. */
export async function registerPaymasters(ctx: EngineCtx, chain: Chain): Promise<void> {
  for (let registered = registeredMax; registered === registeredMax; )
    registered = await ctx.database.tx(async (tx) => {
      const createDate = formatInstant(ctx.clock.nowMs())
      const sponsors = await unregisteredSponsors(tx, chain.network.blockchain, registeredMax)
      for (const sponsor of sponsors) {
        const paymaster = accountsOn(chain).paymasterOf(sponsor.address).address
        if (await setPaymaster(tx, sponsor, paymaster))
          await watchPaymaster(tx, sponsor, paymaster, createDate)
      }
      return sponsors.length
    })
}

export const treasuryOf = (
  { entityId, blockchain, treasuryId: id, keyId, address }: Sponsor,
  family: string,
): TreasuryRow => ({ entityId, id, blockchain, family, address, keyId })
