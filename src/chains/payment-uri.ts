import { type Blockchain, familyOf } from './blockchains.ts'
import { families } from './families.ts'
import type { BrowserCall, PaymentUriTerms } from './family.ts'

/** A text by which wallets fill in a payment, where the family has a standard for it. */
export const paymentUriOf = (blockchain: Blockchain, terms: PaymentUriTerms): string | undefined =>
  families[familyOf(blockchain)]?.paymentUri?.(terms)

/** The call by which a wallet in a browser makes a payment of this amount, if the family has such wallets. */
export const browserCallOf = (
  blockchain: Blockchain,
  terms: PaymentUriTerms & { amountAtomic: bigint },
): BrowserCall | undefined => families[familyOf(blockchain)]?.browserCall?.(terms)
