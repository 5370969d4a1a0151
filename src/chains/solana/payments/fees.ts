import type { FeeTerms } from '../../family.ts'

/** The fee for each signature, whatever a transaction offers. */
const lamportsPerSignature = 5_000n

/** Lamports that any account must have, unless it has none. */
export const accountRent = 890_880n

/** Lamports that an account of a token must have to exist. The one who creates it pays them. */
export const tokenAccountRent = 2_039_280n

/** Prices are in millionths of a lamport, of the whole limit. */
export const solanaFeeOf = ({ gasLimit, priceAtomic, hasFeePayer = false }: FeeTerms): bigint =>
  lamportsPerSignature * (hasFeePayer ? 2n : 1n) + (gasLimit * priceAtomic + 999_999n) / 1_000_000n
