/**
 * Credits merchants with deposits and pays payouts, transfers and refunds. Its folders import one way: address-book,
 * deposit-addresses, payment-intents, deposits, sweeping, rebalancing, bundling, disbursements, reconciliation. Files beside
 * this one are shared by all folders, except `decide-review.ts`, `follow.ts`, `journaled-resources.ts`,
 * `merchant-balances.ts` and `reviewed-values.ts`, which join them like this one.
 *
 * Sweep: the collection of the tokens of a deposit address by the treasury. Rebalancing: the move of coins, by a cross-chain
 * message, to the treasury on a chain where disbursements lack them.
 */
export { addRecipientAddress, removeRecipientAddress } from './address-book/recipient-addresses.ts'
export { addRecipient, applyRecipientChanges, removeRecipient } from './address-book/recipients.ts'
export { startReviews } from './address-book/reviews.ts'
export {
  findRecipientAddress,
  listRecipientAddresses,
  lockRecipientAddress,
  type RecipientAddress,
  type RecipientAddressStatus,
  recipientAddressStatuses,
} from './address-book/store/recipient-addresses.ts'
export {
  findRecipient,
  findRecipients,
  lockRecipient,
  type Recipient,
  type RecipientStatus,
  recipientStatuses,
} from './address-book/store/recipients.ts'
export {
  type DeploymentPlan,
  deployContracts,
  deploymentProgress,
  openPayer,
  payerOf,
  planDeployment,
  shortOf,
} from './bundling/deploy-contracts.ts'
export { requireSponsor } from './bundling/sponsor.ts'
export { decideReview } from './decide-review.ts'
export { gasFeeAt, gasPriceNow } from './delivery-price.ts'
export { openDepositAddress } from './deposit-addresses/open-deposit-address.ts'
export {
  type DepositAddress,
  findDepositAddress,
  listDepositAddresses,
} from './deposit-addresses/store.ts'
export {
  arrivalsOfWire,
  endWire,
  type FiatDeposit,
  findFiatDeposit,
  listFiatDeposits,
  lockLostWire,
  takeWire,
} from './deposits/store/fiat-deposits.ts'
export {
  findPayment,
  findPayments,
  type Payment,
  type PaymentStatus,
  paymentIdsOf,
  paymentProgressOf,
} from './deposits/store/payments.ts'
export {
  findBusinessTransfer,
  findBusinessTransfers,
  type Transfer,
  type TransferStatus,
} from './deposits/store/transfers.ts'
export { acceptWire, creditMintedWires } from './deposits/wires.ts'
export {
  type Destination,
  isOwnPocket,
  type Leaving,
  openPayout,
  openRefund,
  openTransfer,
} from './disbursements/open-disbursements.ts'
export {
  findPayout,
  findPayouts,
  type Payout,
  type PayoutStatus,
  payoutStatuses,
} from './disbursements/store/payouts.ts'
export { startTreasury } from './follow.ts'
export type { GasFaucet } from './gas.ts'
export { journaledResources } from './journaled-resources.ts'
export { merchantBalances } from './merchant-balances.ts'
export { merchantWalletIdOf } from './merchant-wallet.ts'
export { expireOnRequest } from './payment-intents/expire-payment-intents.ts'
export { openPaymentIntent } from './payment-intents/open-payment-intent.ts'
export {
  findPaymentIntent,
  findPaymentIntents,
  lockPaymentIntents,
  type PaymentIntent,
} from './payment-intents/store.ts'
export { openPlatformPayer, submitPlatformCall } from './platform-calls.ts'
export { mintCoins } from './rebalancing/mint-coins.ts'
export { allowInSandbox as allowRebalancingInSandbox, setRebalancing } from './rebalancing/policy.ts'
export {
  findPolicy as findRebalancingPolicy,
  listRebalancings,
  type Rebalancing,
  type RebalancingPolicy,
} from './rebalancing/store.ts'
export {
  type Adjustment,
  type AdjustmentPlan,
  bookAdjustments,
  GapChanged,
  planAdjustments,
} from './reconciliation/adjust.ts'
export { type MoneyProof, proveMoney, startMoneyWatch } from './reconciliation/money-proof.ts'
export { checkMerchants } from './reconciliation/store/check-merchants.ts'
export { type ReviewWithValue, withValues } from './reviewed-values.ts'
export type { TreasuryRow } from './store/treasuries.ts'
export type { Waiting } from './types.ts'
