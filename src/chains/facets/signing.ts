/** Signatures for a caller who then holds them: no node takes part. */
import type { Address } from '../addresses/types.ts'
import type { Blockchain } from '../blockchains.ts'
import type { Effects } from './call-effects.ts'
import type { Signature } from './payments.ts'

/** The account whose key signs. */
export type WalletAccount = { blockchain: Blockchain; address: Address }

/** The reason why a transaction or a delegate action is not signed; each has its own API error. */
export type TransactionFault =
  | 'invalid'
  | 'unreadable'
  | 'signedBefore'
  | 'tooLarge'
  | 'withoutChainId'
  | 'ofOtherChain'
  | 'ofOtherSigner'

export class TransactionProblem extends Error {
  readonly fault: TransactionFault
  readonly location: string
  readonly reason: string
  readonly value: unknown

  constructor(fault: TransactionFault, location: string, reason: string, value?: unknown) {
    super(`${location} ${reason}`)
    this.fault = fault
    this.location = location
    this.reason = reason
    this.value = value
  }
}

/** A payload that a key signs, and what its signature permits. */
type SignablePayload<Answer> = {
  /** The bytes to sign: a digest, or a message where keys of the family sign messages. */
  payload: Buffer
  effects: Effects
  answerOf(signature: Signature): Answer
}

export type SignableTypedData = SignablePayload<string> & {
  domain: Record<string, unknown>
  primaryType: string
  message: Record<string, unknown>
}

type SignedTransaction = { signature: string; signedTransaction: string; txHash?: string }

/** A line of what a user approves: a name for programs, a label, and a value if there is one. */
type SignedLine = readonly [name: string, label: string, value: string | undefined]

export type SignableTransaction = SignablePayload<SignedTransaction> & {
  /** The blockchain that it is for: that of the account, or one of those that a virtual one stands for. */
  blockchain: Blockchain
  lines: readonly SignedLine[]
  /** The price of all that it may use, in base units; absent where the transaction does not say. */
  feeMaxAtomic?: bigint
}

/** A transaction as a caller writes it: in the encoding of its family or, where the family has such a form, as fields. */
export type WrittenTransaction = { rawTransaction?: string; transaction?: string }

/** A message that is signed on behalf of its account, and sent by another one. */
type SignedDelegateAction = { signature: string; signedDelegateAction: string }

/** The payloads that wallets of a family sign. What is absent, the family does not sign. */
export type WalletSigning = {
  /** Throws `ValueProblem` for bytes that are more than a message. */
  message?(bytes: Buffer, account: WalletAccount): SignablePayload<string>
  /** Throws `ValueProblem`. */
  typedData?(data: unknown): SignableTypedData
  /** Throws `TransactionProblem`, as the next one does. */
  transaction?(written: WrittenTransaction, account: WalletAccount): SignableTransaction
  delegateAction?(text: string, account: WalletAccount): SignablePayload<SignedDelegateAction>
}
