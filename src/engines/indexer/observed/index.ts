/** Everything that blocks say of managed addresses: transactions, transfers, operations, owners and cross-chain events. */
export { withOrdinals } from './ordinals.ts'
export { sendersIn } from './senders.ts'
export {
  blocksOfMessages,
  type CrosschainUse,
  crosschainUses,
  type ObservedCrosschainEvent,
  observedCrosschainOf,
} from './store/crosschain.ts'
export { type ObservedOperation, observedOperationsOf } from './store/operations.ts'
export { observedOwnersOf } from './store/owners.ts'
export {
  coveredIn,
  decideClaims,
  type ObservedTokenTransfer,
  observedTokenTransfersOf,
  type TransferOfLog,
  undecideClaims,
  undecidedClaims,
} from './store/tokens.ts'
export {
  blocksOfHashes,
  blocksOfNonces,
  blocksOfTransfers,
  canonicalTransactionsBetween,
  finalNonceUses,
  type HoldingBlock,
  isInFinalBlock,
  type ObservedTransaction,
  type ObservedTransfer,
  observedTransactionsOf,
  observedTransfersOf,
} from './store/transfers.ts'
