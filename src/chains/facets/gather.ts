import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import type { Call, Signature } from './payments.ts'

/** Permission for `to` to take coins of `from`, once for each nonce of 32 bytes. */
export type Authorization = { from: Address; to: Address; amountAtomic: bigint; nonce: Hex }

/** Takes coins of an address whose key signs, and which holds nothing for a fee. */
export type Gather = GatherByAuthorization | GatherByPayment

/** The address pays the treasury, which pays the fee of that: the family declares `feePayers`. */
type GatherByPayment = { by: 'payment' }

/** The treasury takes them with an authorization that the key of the address signed (EIP-3009). */
export type GatherByAuthorization = {
  by: 'authorization'
  /** The 32 bytes that the owner of coins signs to let another account take them. */
  authorizationDigest(domainSeparator: Hex, authorization: Authorization): Buffer
  /** The call by which `to` takes them. No other account can make it. */
  authorizedTransferCall(token: Address, authorization: Authorization, signature: Signature): Call
}
