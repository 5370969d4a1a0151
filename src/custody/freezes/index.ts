/** Freezes, which stop all signatures for an entity or a wallet until they end. */

export { type Freeze, findFreeze, freezesOf, freezesPage, isEntityFrozen } from '../store/freezes.ts'
export { freeze, frozenAmong, unfreeze, WalletFrozen } from './freeze.ts'
