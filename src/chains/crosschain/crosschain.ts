import type { Hex } from '#lib/hex'
import type { Address, TxId } from '../addresses/types.ts'
import type { BlockAt, ChainLog } from '../facets/blocks.ts'
import type { Party } from '../facets/call-effects.ts'
import type { BurnQuotes } from './fee-quotes.ts'
import type { TransferSpec } from './transfer-spec.ts'

/**
 * The contracts of cross-chain messages and of unified balances on one chain: `wallet` and `minter` where it has the latter, the
 * next three where burns can pay their fees beforehand, the last where tokens other than USDC move.
 */
export type CrosschainAddresses = {
  messageTransmitter: Address
  tokenMessenger: Address
  tokenMinter: Address
  wallet?: Address
  minter?: Address
  tokenMessengerWithFees?: Address
  genericExecutor?: Address
  depositForHandler?: Address
  crossChainTokenService?: Address
}

/**
 * A fact that a contract of cross-chain messages or of unified balances reports in a log. Amounts are base units of the
 * token.
 */
export type CrosschainFact =
  /** `message` as it was emitted, with the fields that attesters fill in empty. */
  | { kind: 'messageSent'; message: Hex }
  | {
      kind: 'messageReceived'
      sourceDomain: number
      nonce: Hex
      finalityThreshold: number
      /** Of a burn: the account that its coins are minted for, and those whose coins they were. */
      recipient?: Address
      senders?: readonly Party[]
    }
  | {
      kind: 'deposited'
      token: Address
      depositor: Address
      amountAtomic: bigint
      /** The account whose coins they were. Absent in records of earlier versions. */
      sender?: Address
    }
  | { kind: 'delegateAdded' | 'delegateRemoved'; token: Address; depositor: Address; delegate: Address }
  | {
      kind: 'withdrawalInitiated'
      token: Address
      depositor: Address
      amountAtomic: bigint
      withdrawalBlock: bigint
    }
  | { kind: 'withdrawalCompleted'; token: Address; depositor: Address; amountAtomic: bigint }
  | {
      kind: 'burned'
      token: Address
      depositor: Address
      specHash: Hex
      amountAtomic: bigint
      feeAtomic: bigint
      fromAvailableAtomic: bigint
      fromWithdrawingAtomic: bigint
    }
  /** A part of a batch of payments: what a payer paid more than it received. */
  | {
      kind: 'paymentsDebited'
      token: Address
      depositor: Address
      batch: Hex
      amountAtomic: bigint
      fromAvailableAtomic: bigint
      fromWithdrawingAtomic: bigint
    }
  | { kind: 'paymentsCredited'; token: Address; depositor: Address; batch: Hex; amountAtomic: bigint }
  /** A whole batch, after its parts. */
  | { kind: 'paymentsSettled'; token: Address; batch: Hex; amountAtomic: bigint }
  | {
      kind: 'minted'
      token: Address
      recipient: Address
      specHash: Hex
      sourceDomain: number
      sourceDepositor: Hex
      amountAtomic: bigint
      /** The accounts whose coins they were. Absent in records of earlier versions. */
      senders?: readonly Party[]
    }

export type CrosschainEvent = CrosschainFact & { txHash: TxId; logIndex: number }

/** One signed BurnIntent or BurnIntentSet, with a fee in the token's smallest unit for each of its intents. */
export type SignedBurn = { intents: Uint8Array; signature: Hex; feesAtomic: readonly bigint[] }

/** Sums of payments between depositors of one chain: what each pays more than it receives, and the reverse. */
export type PaymentBatch = {
  /** A number of 32 bytes that no other batch has. */
  id: Hex
  token: Address
  debits: readonly { depositor: Address; amountAtomic: bigint }[]
  credits: readonly { depositor: Address; amountAtomic: bigint }[]
}

/** The signature of an account, by the digest of its content. That of a contract may be any bytes. */
export type SignedDigest = { account: Address; digest: Hex; signature: Hex }

/** The answer of a contract about a signature (ERC-1271). One that fails, or answers something else, refuses. */
export type ContractVerdict = 'accepted' | 'refused' | 'no contract'

/** A call of a contract, without native coins. */
export type ContractCall = { to: Address; valueAtomic: bigint; data: Hex }

/** A burn of a token whose amount is minted for `recipient` on the chain of `domain`, for no fee. */
export type CrosschainBurn = {
  token: Address
  amountAtomic: bigint
  domain: number
  /** A word, as messages carry addresses. */
  recipient: Hex
  /** The only account that can deliver the message, as a word. */
  caller: Hex
}

/** Cross-chain messages and unified balances on one chain. */
export type Crosschain = {
  /** The number of the chain in messages. */
  domain: number
  addresses: CrosschainAddresses
  /** The events of these contracts among the logs of a block, in their order. Never throws. */
  eventsIn(logs: readonly ChainLog[]): CrosschainEvent[]
  /** The call that lets the token messenger take this amount of the caller's tokens. */
  allowBurnCall(token: Address, amountAtomic: bigint): ContractCall
  /** The call that burns the caller's tokens when its block is final, and sends the message about it. */
  depositForBurnCall(burn: CrosschainBurn): ContractCall
  /** The call that delivers an attested message. */
  receiveCall(message: Hex, attestation: Hex): ContractCall
  /**
   * The call that delivers an attested message by the executor, which uses what is minted as the hook data says. Throws where the
   * chain has no executor.
   */
  executeCall(message: Hex, attestation: Hex): ContractCall
  /** Quotes of fees that burns on this chain pay beforehand; absent where no contract takes them. */
  feeQuotes?: BurnQuotes | undefined
  /** The same for burns of tokens that an id names. Their `forwardArgs` have the receiver in place of hook data. */
  tokenQuotes?: BurnQuotes | undefined
  /** The call that burns, with the payload of `burnPayload` and the burn signer's signature of 65 bytes. */
  burnCall(payload: Hex, signature: Hex): ContractCall
  /** The call that mints, with an encoded attestation (set) and the attestation signer's signature of 65 bytes. */
  mintCall(attestation: Hex, signature: Hex): ContractCall
  /** The bytes that a burn signer signs (`payloadDigest`) and that `burnCall` takes. */
  burnPayload(burns: readonly SignedBurn[]): Hex
  /** The bytes that a burn signer signs (`payloadDigest`) and that `settlePaymentsCall` takes. */
  paymentsPayload(batch: PaymentBatch): Hex
  /** The call that settles a batch of payments, with the burn signer's signature of 65 bytes. */
  settlePaymentsCall(payload: Hex, signature: Hex): ContractCall
  /** Whether the wallet contract settles payments now by the signature of this account. Throws when the node is unreachable. */
  settlesPayments(signer: Address): Promise<boolean>
  /** The domain (EIP-712) for which payers sign payments of their unified balances on this chain. */
  paymentsSeparator(): Hex
  /** The accounts that a transfer of a unified balance concerns, each on its chain: also those that its hook names. */
  partiesOf(spec: TransferSpec): Party[]
  /** The address whose key signed the digest; `undefined` for bytes that the contracts do not take for a signature. */
  signerOf(digest: Hex, signature: Hex): Promise<Address | undefined>
  /**
   * The answer of a contract about a signature at a block. Accounts take turns, and no other read waits for them. Throws when the node is
   * unreachable, or lacks the state of the block.
   */
  contractVerdict(signed: SignedDigest, block: BlockAt): Promise<ContractVerdict>
  /** Whether the wallet contract burns by what this account signs in the name of contracts. Throws when the node is unreachable. */
  signsForContracts(signer: Address): Promise<boolean>
  /**
   * Why the minter would refuse transfers to these accounts now: it is paused, or one of them is on its denylist; `undefined`
   * where it would not. Throws when the node is unreachable.
   */
  mintObstacle(accounts: readonly Address[]): Promise<'paused' | { denied: Address } | undefined>
  /** Blocks between the start and the end of a withdrawal. Throws when the node is unreachable. */
  withdrawalDelay(): Promise<bigint>
}
