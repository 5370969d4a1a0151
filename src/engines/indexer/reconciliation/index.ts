/** Compares the books with the balances on the chains, and reports every gap between them. */
export { lockUnchangedGaps, type Reconciliation, reconcile } from './reconcile.ts'
export { startReconciler } from './reconciler.ts'
export { settledRead } from './settled-read.ts'
export {
  comparedBlocks,
  countOpenGaps,
  type GapRecord,
  gapCounts,
  gapRecordsPage,
  type OpenGap,
  openGaps,
  startOpeningBalance,
  undoOpeningBalances,
} from './store.ts'
export { syncBalances } from './sync-balances.ts'
