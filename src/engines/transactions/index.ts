/**
 * Executes customers' transactions exactly once. An accepted transfer is a row; once screening cleared it, a worker assigns a nonce by inserting the
 * attempt that uses it, with the signed bytes, and broadcasts those bytes until they are mined. Every outcome except a
 * listed, definite refusal means "maybe sent". Blocks are processed step by step, and reverted when orphaned. Woken by NOTIFY
 * `chain_work` and `block_steps`; any number of workers may run.
 */
export { errorsOfCall } from './contract-errors.ts'
export { failUnsentTransactions } from './fail-unsent.ts'
export { estimateCovered } from './fee-payers.ts'
export { feeAt, feeMaxOf, priceNow, suggestedFees } from './fees.ts'
export { complete } from './follow.ts'
export { failReceived, recordUnlistedReceived, showReceived } from './receive.ts'
export { counterpartiesOf, counterpartiesOfCreation, recipientsOf } from './recipients.ts'
export { noteStates } from './record-state-events.ts'
export { type State, states } from './states.ts'
export { fillAmounts, type ReceivedTransfer } from './store/chain-effects.ts'
export { queueDepths } from './store/queue.ts'
export { type ReviewedValue, valuesOfTransactions } from './store/reviewed-values.ts'
export {
  announceWork,
  findTransaction,
  listTransactions,
  lockUnsigned,
  lowestNonceTransaction,
  minedUpTo,
  type Ref,
  type SignedFee,
  type TransactionFilters,
  type TransactionRow,
} from './store/transactions.ts'
export {
  type CallRequest,
  type FeeRequest,
  requireNotHalted,
  submit,
  submitFromTreasury,
} from './submit.ts'
export { transactionUnderReview } from './transaction-under-review.ts'
export { holdsAreSettled, startTransactionWorker } from './worker.ts'
