/** EIP-3009 in the form that any account can execute, so that the payer needs no gas and the payee no transaction of its own. */
import { encodeFunctionData } from 'viem'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { TimedAuthorization } from '../../facets/authorizations.ts'
import type { Call } from '../../facets/payments.ts'
import { stablecoinAbi } from '../abi/stablecoin.ts'
import { digestOfAuthorization } from './authorization.ts'
import { recoverSigner } from './recover-signer.ts'

/** The account whose key signed, with 27 or 28 as the last byte; contracts tell about signatures of their own. */
export const authorizationSigner = (
  domainSeparator: Hex,
  authorization: TimedAuthorization,
  signature: Hex,
): Promise<Address | undefined> =>
  recoverSigner(
    hexOf(digestOfAuthorization(domainSeparator, 'TransferWithAuthorization', authorization)),
    signature,
  )

/** The call that moves the coins. Contracts of the time before ERC-1271 take signatures of keys alone, in three parts. */
export function authorizedPayment(
  token: Address,
  { from, to, amountAtomic, validAfter, validBefore, nonce }: TimedAuthorization,
  signature: Hex,
  isOfKey: boolean,
): Call {
  const terms = [from as Hex, to as Hex, amountAtomic, validAfter, validBefore, nonce] as const
  const bytes = bytesOf(signature)
  const data = isOfKey
    ? encodeFunctionData({
        abi: stablecoinAbi,
        functionName: 'transferWithAuthorization',
        args: [...terms, bytes[64]!, hexOf(bytes.subarray(0, 32)), hexOf(bytes.subarray(32, 64))],
      })
    : encodeFunctionData({
        abi: stablecoinAbi,
        functionName: 'transferWithAuthorization',
        args: [...terms, signature],
      })
  return { to: token, valueAtomic: 0n, data }
}
