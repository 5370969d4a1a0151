import type { PaymentUriTerms } from '../family.ts'
import { tokenAddress } from '../network.ts'

/** The request for a transfer of a token that EIP-681 defines. */
export const evmPaymentUri = ({ network, token, address, amountAtomic }: PaymentUriTerms): string =>
  `ethereum:${tokenAddress(token)}@${network.chainId}/transfer?address=${address}${
    amountAtomic === undefined ? '' : `&uint256=${amountAtomic}`
  }`
