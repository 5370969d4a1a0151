export { createFaucet, type Drip, type Faucet, type FaucetInput } from './faucet.ts'
export { startTreasury } from './follow.ts'
export { merchantBalances } from './merchant-balances.ts'
export { merchantWalletIdOf } from './merchant-wallet.ts'
export { type NewPaymentIntent, openPaymentIntent } from './open-payment-intent.ts'
export {
  type Asker,
  addRecipient,
  changeRecipient,
  type NewRecipient,
  removeRecipient,
  startReviews,
} from './recipients.ts'
export {
  findPaymentIntent,
  listPaymentIntents,
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
} from './store/payments.ts'
export {
  findRecipient,
  listRecipients,
  lockRecipient,
  type Recipient,
  type RecipientFilters,
  type RecipientStatus,
  recipientStatuses,
} from './store/recipients.ts'
