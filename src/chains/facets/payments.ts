import type { Hex } from '#lib/hex'
import type { Address, BlockHash, TxId } from '../addresses/types.ts'
import type { Effects } from './call-effects.ts'

/** The call of a transaction, before nonce and fee are known. Without `to`, its data creates a contract. */
export type Call = { to: Address | undefined; valueAtomic: bigint; data: Hex }

type Price = { maxFeeAtomic: bigint; priorityFeeAtomic: bigint }

/** All signed fields, and who signs. `maxFeeAtomic` is the price where a chain has no base fee. */
export type UnsignedTransaction = Call & {
  from: Address
  nonce: number
  gasLimit: bigint
  maxFeeAtomic: bigint
  priorityFeeAtomic: bigint
  /** The time of blocks from which none executes it; absent where it ends otherwise. See `Lifetimes`. */
  expiresMs?: number | undefined
  /** The block that it names, where the family has transactions that live as long as that is recent. */
  recentBlock?: BlockHash | undefined
  /** The account that pays the fee, and signs too; the sender does when absent. Only families that declare `feePayers` have it. */
  feePayer?: Address
}

/**
 * The bytes of a signature, as custody returns them for the family: for EVM r, s and the recovery (0 or 1), 65 bytes; for Aptos the
 * public key and the signature, 96 bytes; for Solana the signature alone, 64 bytes.
 */
export type Signature = Buffer

/** `accepted`: in the pool or known to it. `refused`: a listed, certain refusal before the pool. `unknown`: maybe sent. */
export type BroadcastOutcome =
  | { kind: 'accepted' }
  | { kind: 'refused'; reason: RefusalReason; message: string }
  | { kind: 'unknown'; message: string }

export type RefusalReason =
  | 'nonce-too-low'
  | 'insufficient-funds'
  | 'underpriced'
  | 'replacement-underpriced'
  | 'gas-limit'
  | 'invalid'

/** Builds, signs and sends transactions. */
export type Payments = {
  /**
   * The call that moves `amountAtomic` of `token` (of the native coin when absent) to `to`. `decimals`: those of a token that the
   * network does not list.
   */
  transferCall(to: Address, amountAtomic: bigint, token?: Address, decimals?: number): Call
  /** The decoded effects of a call, for policy to evaluate; never throws. */
  decodeCall(call: Call): Effects
  /** The bytes that the keys of the sender and of a fee payer sign: a digest, or the message itself, as keys of the family sign. */
  payloadOf(transaction: UnsignedTransaction): Buffer
  /** `ofFeePayer`: the signature of the account that pays the fee, where there is one. */
  attachSignature(
    transaction: UnsignedTransaction,
    signature: Signature,
    ofFeePayer?: Signature,
  ): { raw: Hex; hash: TxId }
  /** The same transaction at a higher price, as pools take it in the place of the one that waits. */
  dearer(transaction: UnsignedTransaction, price: Price): UnsignedTransaction
  /** Reads a signed transaction, `from` by its signature; `undefined` where the bytes are none of this network. */
  readSigned(raw: Hex): Promise<UnsignedTransaction | undefined>
  /** Broadcasts signed transactions; returns one outcome each, in order. */
  broadcast(raws: readonly Hex[]): Promise<BroadcastOutcome[]>
}
