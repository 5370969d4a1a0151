/** Payment intents: what a merchant expects to be paid. */

export { expireOnRequest } from './expire-payment-intents.ts'
export { offerChains } from './offer-chains.ts'
export { openPaymentIntent } from './open-payment-intent.ts'
export {
  findPaymentIntent,
  findPaymentIntents,
  lockPaymentIntents,
  type PaymentIntent,
  paymentIntentExpiry,
} from './store.ts'
export { takesMoney } from './timeline.ts'
