/** Payment intents: what a merchant expects to be paid. */

export { expireOnRequest } from './expire-payment-intents.ts'
export { openPaymentIntent } from './open-payment-intent.ts'
export {
  findPaymentIntent,
  findPaymentIntents,
  lockPaymentIntents,
  type PaymentIntent,
  paymentIntentExpiry,
} from './store.ts'
