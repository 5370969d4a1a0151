/** Fees that the treasury of an entity pays for its wallets, on chains whose transactions name the account that pays. */
import { capabilitiesOf } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import type { AbiError } from '#chains/facets/contracts'
import type { GasEstimate } from '#chains/facets/offers'
import type { Call } from '#chains/facets/payments'
import type { Db } from '#runtime/db/db'
import { findSponsor, type Sponsor } from './store/sponsors.ts'

/** The treasury that pays fees for the wallets of an entity, where one can. */
export const feePayerOf = async (
  db: Db,
  { network }: Chain,
  entityId: string,
): Promise<Sponsor | undefined> =>
  capabilitiesOf(network.blockchain).feePayers ? findSponsor(db, entityId, network.blockchain) : undefined

/** Follows the advice to send native coins to a wallet. */
export const orToTreasury = ({ address }: Sponsor): string =>
  `, or to the treasury ${address}, which pays where wallets cannot`

/** Estimates a call of a wallet: when its own coins are too few, as if the treasury paid the fee. */
export async function estimateForWallet(
  db: Db,
  chain: Chain,
  { entityId, address }: { entityId: string; address: string },
  call: Call,
  errors?: readonly AbiError[],
): Promise<GasEstimate> {
  const own = await chain.offers.estimateGas(address, call, { errors })
  if (own.kind !== 'insufficient-funds') return own
  const payer = await feePayerOf(db, chain, entityId)
  if (!payer) return own
  const paidFor = await chain.offers.estimateGas(address, call, { errors, feePayer: payer.address })
  if (paidFor.kind !== 'insufficient-funds') return paidFor
  return { ...own, message: `${own.message}: send native coins to ${address}${orToTreasury(payer)}` }
}
