/** Fees that the treasury of an entity pays for its other addresses, on chains whose transactions name the account that pays. */
import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import type { AbiError } from '#chains/facets/contracts'
import type { GasEstimate } from '#chains/facets/offers'
import type { Call } from '#chains/facets/payments'
import type { Db } from '#runtime/db/db'
import { findSponsor, type Sponsor } from './store/sponsors.ts'

/** A sender of transactions. */
type FeeOwner = { entityId: string; address: string }

/** The treasury that pays fees for an address of its entity, where one can; none pays for itself. */
export async function feePayerOf(
  db: Db,
  { network: { blockchain } }: Chain,
  { entityId, address }: FeeOwner,
): Promise<Sponsor | undefined> {
  if (!capabilitiesOf(blockchain).feePayers) return undefined
  const sponsor = await findSponsor(db, entityId, blockchain)
  return sponsor?.address === address ? undefined : sponsor
}

/** Follows the advice to send native coins to a wallet. */
export const orToTreasury = ({ address }: Sponsor): string =>
  `, or to the treasury ${address}, which pays where wallets cannot`

/** Estimates a call: when the coins of its sender are too few, as if the treasury paid the fee. */
export async function estimateCovered(
  db: Db,
  chain: Chain,
  { entityId, address }: FeeOwner,
  call: Call,
  errors?: readonly AbiError[],
): Promise<GasEstimate> {
  const own = await chain.offers.estimateGas(address, call, { errors })
  if (own.kind !== 'insufficient-funds') return own
  const payer = await feePayerOf(db, chain, { entityId, address })
  if (!payer) return own
  const paidFor = await chain.offers.estimateGas(address, call, { errors, feePayer: payer.address })
  if (paidFor.kind !== 'insufficient-funds') return paidFor
  return { ...own, message: `${own.message}: send native coins to ${address}${orToTreasury(payer)}` }
}
