import type { Address } from '../addresses/types.ts'
import type { BrowserCall, PaymentUriTerms } from '../family.ts'
import { tokenAddress } from '../network.ts'
import { transferCall } from './payments/build.ts'

/** The request for a transfer of a token that EIP-681 defines. */
export const evmPaymentUri = ({ network, token, address, amountAtomic }: PaymentUriTerms): string =>
  `ethereum:${tokenAddress(token)}@${network.chainId}/transfer?address=${address}${
    amountAtomic === undefined ? '' : `&uint256=${amountAtomic}`
  }`

/** The same transfer as a call of the token's contract. */
export function evmBrowserCall({
  network,
  token,
  address,
  amountAtomic,
}: PaymentUriTerms & { amountAtomic: bigint }): BrowserCall {
  const to = tokenAddress(token)
  const { data } = transferCall(address as Address, amountAtomic, to)
  return { network: `0x${network.chainId.toString(16)}`, to, data }
}
