import type { Address, BlockHash, TxId } from '../addresses/types.ts'
import type { BlockAt } from './blocks.ts'
import type { AbiError } from './contracts.ts'
import type { Call } from './payments.ts'

export type Receipt = {
  txHash: TxId
  success: boolean
  gasUsed: bigint
  /** Paid by the sender, or by the transaction's `feePayer`. */
  feeAtomic: bigint
  blockHash: BlockHash
  blockNumber: number
}

/** The call of a transaction that failed in a block. */
export type RevertedCall = { txHash: TxId; from: Address; call: Call; gasLimit: bigint; block: BlockAt }

/** The outcome of transactions that a block includes. */
export type BlockEffects = {
  /**
   * Receipts of the given transactions of one block, in any order. Given a `Block`, nothing is requested that was read with it, or
   * for it earlier.
   */
  receiptsOf(block: BlockAt, txHashes: readonly TxId[]): Promise<Receipt[]>
  /**
   * The reason why a call reverted in its block; `undefined` when neither the block nor a replay shows it. `errors` are those of
   * the contract, decoded by name.
   */
  explainRevert(reverted: RevertedCall, errors?: readonly AbiError[]): Promise<string | undefined>
}
