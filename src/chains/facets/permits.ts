import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import type { Call } from './payments.ts'

/** Schemes of payments that have a contract for permits: what was signed moves, or as much of it as their sender chooses. */
export type PermitScheme = 'exact' | 'upto'

/** The terms of a permit beside those that every signed payment has. */
export type PermitTerms = {
  scheme: PermitScheme
  /** The amount that the payer signed; with `exact`, the one that moves. */
  maxAtomic: bigint
  /** The one account that may send it: with `upto`, since that chooses the amount. */
  sender?: Address | undefined
  /** The permission of the payer that the contract of permits takes `maxAtomic` of the token (EIP-2612); until `validBefore`, in Unix seconds. */
  approval?: { validBefore: bigint; signature: Hex } | undefined
}

/** Permission to move coins by Permit2 between two times, in Unix seconds, both included. */
export type PermittedPayment = {
  token: Address
  from: Address
  to: Address
  amountAtomic: bigint
  validAfter: bigint
  validBefore: bigint
  /** The number of the permit, which its payer uses once, for whichever token. */
  nonce: Hex
  permit: PermitTerms
}

/** Payments that the owner of coins signs for Permit2, and that the contract of a scheme makes. */
export type Permits = {
  /** The contract that takes coins, and the one of a scheme that payers name as its spender. */
  takenBy: Address
  spenderOf(scheme: PermitScheme): Address
  /** The amount of a token that its owner lets the contract of permits take. */
  allowanceOf(token: Address, owner: Address): Promise<bigint>
  /** The account whose key made a signature; `undefined` for a signature of another form, which a contract may take. */
  signerOf(payment: PermittedPayment, signature: Hex): Promise<Address | undefined>
  /** The call that moves `amountAtomic`. */
  permittedPayment(payment: PermittedPayment, signature: Hex): Call & { to: Address }
}
