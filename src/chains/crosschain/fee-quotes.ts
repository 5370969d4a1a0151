import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'

/** The fees of one burn, which it pays beforehand, and the burn that they are for. Amounts are base units of their token. */
export type BurnQuote = {
  amount: bigint
  destinationDomain: number
  burnToken: Address
  /** The zero address where native coins pay. */
  feeToken: Address
  feeRecipient: Address
  /** Whether it pays for an attestation before finality. */
  isFast: boolean
  fastFee: bigint
  /** Whether it pays for the delivery of a message with these arguments. */
  isForwarded: boolean
  forwardFee: bigint
  /** Of `forwardArgs`; zeros without a delivery. */
  forwardArgs: Hex
  /** The executor of the destination, a word; zeros where none is known. Burns for it need hook data that it can read. */
  executor: Hex
  nonce: bigint
  /** The last second in which a burn can pay by it, since 1970. */
  expiresAt: bigint
}

/** The signed quotes that the contract of one chain takes. */
export type BurnQuotes = {
  /** The digest that a quote signer signs. It is of this chain and contract alone. */
  digest(quote: BurnQuote): Hex
  /** The bytes that the contract takes. */
  encode(quote: BurnQuote, signature: Hex): Hex
  /** The quote in such bytes; `undefined` for others. */
  decode(signedQuote: Hex): { quote: BurnQuote; signature: Hex } | undefined
  /** The hash by which a quote names the delivery that it pays for. */
  forwardArgs(destinationCaller: Hex, hookData: Hex): Hex
  /** The hash of the amount of a burn. */
  amountArgs(amount: bigint): Hex
  /** Whether a burn has paid by the quote. Throws when the node is unreachable. */
  isUsed(nonce: bigint): Promise<boolean>
  /** Whether the executor of this chain can read the call in this hook data. */
  isExecutable(hookData: Hex): boolean
}
