import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import type { AccountCreation, AddressedCall } from './accounts.ts'
import type { Authorization } from './gather.ts'
import type { CallTrial, GasEstimate } from './offers.ts'
import type { Call } from './payments.ts'
import type { Permits } from './permits.ts'

/** Permission to move coins from one account to another between two times, in Unix seconds, both excluded. */
export type TimedAuthorization = Authorization & { validAfter: bigint; validBefore: bigint }

/** Payments that the owner of coins signs, and that any account may send (`transferWithAuthorization` of EIP-3009). */
export type Authorizations = {
  /** The EIP-712 domain separator of a token, as its contract tells it: `domainSeparatorOf` asks once. */
  domainSeparatorOf(token: Address): Promise<Hex>
  /** The account whose key made a signature; `undefined` for a signature of another form, which a contract may take. */
  signerOf(
    domainSeparator: Hex,
    authorization: TimedAuthorization,
    signature: Hex,
  ): Promise<Address | undefined>
  /** The call that moves the coins. `isOfKey`: the signature is of the key of the payer, and not for its contract. */
  authorizedPayment(token: Address, authorization: TimedAuthorization, signature: Hex, isOfKey: boolean): Call
  /** Payments of the same kind by Permit2, where the network has it at the address that payers sign for. */
  permits: Permits | undefined
  /** Whether a block would execute such a call now with this gas. Those of one asker share requests to a node, and so do estimates. */
  tryPayment(from: Address, call: Call, gasMax: bigint): Promise<CallTrial>
  estimatePayment(from: Address, call: Call, gasMax: bigint): Promise<GasEstimate>
  /** Payments of accounts that do not exist yet, where the network can create one and pay in one transaction. */
  firstPayments: FirstPayments | undefined
}

/** Signatures of accounts that do not exist yet, which come with the call that creates them (ERC-6492). */
export type FirstPayments = {
  /** The creation and the signature of the account itself; `undefined` for a signature that comes without one. */
  unwrapped(signature: Hex): (AccountCreation & { signature: Hex }) | undefined
  /** The account that a creation makes, where this program knows its code; `undefined` for any other call. */
  createdAccount(creation: AccountCreation): Address | undefined
  /** The contract that makes both calls. */
  batcher: Address
  /** The one call that creates the account, unless it exists, and makes the payment. */
  createdFirst(creation: AccountCreation, payment: AddressedCall): AddressedCall
}
