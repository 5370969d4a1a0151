/** Payouts, transfers and refunds that a treasury pays. */

export {
  type Destination,
  isOwnPocket,
  type Leaving,
  openPayout,
  openRefund,
  openTransfer,
  ownPockets,
  requireUnboundKey,
} from './open-disbursements.ts'
export { riskReasonOf } from './screen.ts'
export { type HeldDisbursement, heldDisbursements } from './store/disbursements.ts'
export { findPayout, findPayouts, type Payout, type PayoutStatus, payoutStatuses } from './store/payouts.ts'
