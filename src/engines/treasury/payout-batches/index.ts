/** Payouts from a file: understood, shown, approved once, and then created row by row. */

export { approvePayouts, cancelPayouts } from './decide-batch.ts'
export { estimateFees, type FeeEstimate } from './estimate-fees.ts'
export {
  type BatchTotal,
  batchesPage,
  batchReferences,
  batchRowStates,
  batchRowsPage,
  batchTotals,
  findBatch,
  type PayoutBatch,
  payoutBatchStates,
  type RowPayment,
  type RowProblem,
  type ShownBatchRow,
} from './store.ts'
export { type ReadFile, type ReadRow, uploadPayouts } from './upload-batch.ts'
