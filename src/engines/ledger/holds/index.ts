/** Holds reserve outgoing amounts until they are posted or voided. Only holds can be refused. */
export {
  availableForFees,
  availableForFeesOf,
  type Hold,
  heldFor,
  InsufficientFunds,
  lockForHolds,
  type OpenHold,
  openUnlistedHolds,
  type PlacedHold,
  placedHolds,
  placeHolds,
  postHolds,
  raiseHold,
  reopenHolds,
  resolveHolds,
} from './store/holds.ts'
export { copyHolds, restoreHolds } from './store/restored-holds.ts'
