export {
  type Adjustment,
  type AdjustmentPlan,
  bookAdjustments,
  GapChanged,
  planAdjustments,
} from './adjust.ts'
export { expireOnRequest } from './credit.ts'
export { createFaucet, type Drip, type Faucet, type FaucetInput } from './faucet.ts'
export { startTreasury } from './follow.ts'
export type { Fuel } from './gas.ts'
export { merchantBalances } from './merchant-balances.ts'
export { merchantWalletIdOf } from './merchant-wallet.ts'
export { type MoneyProof, proveMoney, startMoneyWatch } from './money-proof.ts'
export { type NewDepositAddress, openDepositAddress } from './open-deposit-address.ts'
export {
  type Destination,
  isOwnPocket,
  type Leaving,
  openPayout,
  openRefund,
  openTransfer,
} from './open-orders.ts'
export { type NewPaymentIntent, openPaymentIntent } from './open-payment-intent.ts'
export {
  addRecipientAddress,
  type NewRecipientAddress,
  removeRecipientAddress,
} from './recipient-addresses.ts'
export {
  type Asker,
  addRecipient,
  changeRecipient,
  type NewRecipient,
  removeRecipient,
} from './recipients.ts'
export { startReviews } from './reviews.ts'
export { checkMerchants } from './store/check.ts'
export {
  type DepositAddress,
  findDepositAddress,
  listDepositAddresses,
} from './store/deposit-addresses.ts'
export { type FiatDeposit, findFiatDeposit, listFiatDeposits } from './store/fiat-deposits.ts'
export {
  findPaymentIntent,
  listPaymentIntents,
  lockPaymentIntents,
  type PaymentIntent,
  type PaymentIntentFilters,
} from './store/payment-intents.ts'
export {
  findPayment,
  listPayments,
  type Payment,
  type PaymentFilters,
  type PaymentStatus,
  paymentIdsOf,
  standingOfPayments,
} from './store/payments.ts'
export {
  findPayout,
  listPayouts,
  type Payout,
  type PayoutFilters,
  type PayoutStatus,
  payoutStatuses,
} from './store/payouts.ts'
export {
  findRecipientAddress,
  listRecipientAddresses,
  lockRecipientAddress,
  type RecipientAddress,
  type RecipientAddressStatus,
  recipientAddressStatuses,
} from './store/recipient-addresses.ts'
export {
  findRecipient,
  listRecipients,
  lockRecipient,
  type Recipient,
  type RecipientFilters,
  type RecipientStatus,
  recipientStatuses,
} from './store/recipients.ts'
export {
  findTransfer,
  listTransfers,
  type Transfer,
  type TransferFilters,
  type TransferStatus,
} from './store/transfers.ts'
export { type NewWire, receiveWire, startWires } from './wires.ts'
