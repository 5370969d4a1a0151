/** The endpoints that fail, and how notifications arrive. */
export { deliveryFigures, type FailingSubscription, failingSubscriptions } from './store.ts'
