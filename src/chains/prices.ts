import { type Blockchain, familyOf } from './blockchains.ts'
import type { Chain } from './chain.ts'
import { families } from './families.ts'
import type { FeeTerms } from './family.ts'
import type { PriceUnit } from './network.ts'

/** The unit in which prices of gas are written on a blockchain that this program connects to. */
export function priceUnitOf(blockchain: Blockchain): PriceUnit {
  const unit = families[familyOf(blockchain)]?.priceUnit
  if (!unit) throw new Error(`the family of ${blockchain} has no unit of prices`)
  return unit
}

/** The fee of a transaction with these terms, in the smallest unit of the native coin: of one that uses its whole limit. */
export function networkFeeOf(blockchain: Blockchain, terms: FeeTerms): bigint {
  const { feeOf } = families[familyOf(blockchain)] ?? {}
  return feeOf ? feeOf(terms) : terms.gasLimit * terms.priceAtomic
}

/** The most that a treasury pays for a payment with this limit: its fee, for the signatures of two, and what it takes beside that. */
export function highestCostOf({ network, offers }: Chain, gasLimit: bigint, priceAtomic: bigint): bigint {
  const { blockchain } = network
  const hasFeePayer = families[familyOf(blockchain)]?.feePayers ?? false
  return networkFeeOf(blockchain, { gasLimit, priceAtomic, hasFeePayer }) + (offers.depositMaxAtomic ?? 0n)
}
