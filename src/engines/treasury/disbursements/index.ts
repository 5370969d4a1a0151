/** Payouts, transfers, refunds and redemptions that a treasury pays. */

export {
  type Destination,
  isOwnPocket,
  type Leaving,
  openPayout,
  openRedemption,
  openRefund,
  openTransfer,
  ownPockets,
  requireUnboundKey,
} from './open-disbursements.ts'
export { riskReasonOf } from './screen.ts'
export { type HeldDisbursement, heldDisbursements } from './store/disbursements.ts'
export { findPayout, findPayouts, type Payout, type PayoutStatus, payoutStatuses } from './store/payouts.ts'
export { findRedemption, findRedemptions, type Redemption } from './store/redemptions.ts'
