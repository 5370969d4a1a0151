/** Reads what happened to transactions, for those who show it: nothing here changes one. */
export { rebuildOperations } from './rebuild-operations.ts'
export { transactionMovements } from './store/movements.ts'
export { coinsHeldByWallets, stuckOf } from './store/open-transactions.ts'
export { carriedOperation, type SignedAttempt, signedAttempts } from './store/signed-attempts.ts'
