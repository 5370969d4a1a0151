import { type Blockchain, familyOf } from './blockchains.ts'
import { families } from './families.ts'
import type { PaymentUriTerms } from './family.ts'

/** A text by which wallets fill in a payment, where the family has a standard for it. */
export const paymentUriOf = (blockchain: Blockchain, terms: PaymentUriTerms): string | undefined =>
  families[familyOf(blockchain)]?.paymentUri?.(terms)
