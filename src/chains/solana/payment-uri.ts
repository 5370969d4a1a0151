import { formatAmount } from '#lib/amounts'
import type { PaymentUriTerms } from '../family.ts'
import { tokenAddress } from '../network.ts'

/** The request for a transfer of a token that Solana Pay defines. */
export const solanaPaymentUri = ({ token, address, amountAtomic }: PaymentUriTerms): string =>
  `solana:${address}?${
    amountAtomic === undefined ? '' : `amount=${formatAmount(amountAtomic, token.decimals)}&`
  }spl-token=${tokenAddress(token)}`
