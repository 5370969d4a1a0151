import { modularBalanceEndpoints } from '#api/balances/modular-routes'
import { balanceEndpoints } from '#api/balances/routes'
import { bankAccountEndpoints } from '#api/bank-accounts/routes'
import { wireNotification } from '#api/bank-accounts/wire-notification'
import { businessBalanceEndpoints } from '#api/business-balances/routes'
import { depositNotification } from '#api/business-deposits/deposit-notification'
import { businessDepositEndpoints } from '#api/business-deposits/routes'
import { businessTransferEndpoints } from '#api/business-transfers/routes'
import { transferNotification } from '#api/business-transfers/transfer-notification'
import { challengeNotification } from '#api/challenges/challenge-notification'
import { commandChallengeEndpoints } from '#api/challenges/command-routes'
import { operatorChallengeEndpoints } from '#api/challenges/operator-routes'
import { pageChallengeEndpoints } from '#api/challenges/page-routes'
import { challengeEndpoints } from '#api/challenges/routes'
import { configurationEndpoints } from '#api/configuration/routes'
import { eventLogNotification } from '#api/contracts/monitors/event-log-notification'
import { eventMonitorEndpoints } from '#api/contracts/monitors/routes'
import { contractEndpoints } from '#api/contracts/routes'
import { templateEndpoints } from '#api/contracts/templates/routes'
import { depositAddressEndpoints } from '#api/deposit-addresses/routes'
import { entityEndpoints } from '#api/entity/routes'
import { exportEndpoints } from '#api/exports/routes'
import { faucetEndpoints } from '#api/faucet/routes'
import { jsonRpcEndpoints } from '#api/json-rpc/routes'
import { messageEndpoints } from '#api/messages/routes'
import {
  modularTransferNotification,
  userOperationNotification,
} from '#api/modular-wallets/modular-notifications'
import { operatorModularWalletEndpoints } from '#api/modular-wallets/operator-routes'
import { modularWalletEndpoints } from '#api/modular-wallets/routes'
import { monitoredTokenEndpoints } from '#api/monitored-tokens/routes'
import { subscriptionEndpoints } from '#api/notification-subscriptions/routes'
import { operatorAuditEndpoints } from '#api/operator/audit-routes'
import { operatorControlEndpoints } from '#api/operator/control-routes'
import { operatorEventEndpoints } from '#api/operator/event-routes'
import { operatorKeyEndpoints } from '#api/operator/key-routes'
import { operatorMovementEndpoints } from '#api/operator/movement-routes'
import { operatorNotificationEndpoints } from '#api/operator/notification-routes'
import { operatorOverviewEndpoints } from '#api/operator/overview-routes'
import { pageOriginEndpoints } from '#api/operator/page-origin-routes'
import { operatorPolicyEndpoints } from '#api/operator/policy-routes'
import { operatorRequestEndpoints } from '#api/operator/request-routes'
import { operatorEndpoints } from '#api/operator/routes'
import { operatorSessionEndpoints } from '#api/operator/session-routes'
import { operatorTreasuryEndpoints } from '#api/operator/treasury-routes'
import { paymentPageEndpoints } from '#api/payment-intents/pages/routes'
import { paymentIntentNotification } from '#api/payment-intents/payment-intent-notification'
import { paymentIntentEndpoints } from '#api/payment-intents/routes'
import { paymentNotification } from '#api/payments/payment-notification'
import { paymentEndpoints } from '#api/payments/routes'
import { payoutBatchEndpoints } from '#api/payout-batches/routes'
import { payoutNotification } from '#api/payouts/payout-notification'
import { payoutEndpoints } from '#api/payouts/routes'
import { recipientAddressEndpoints } from '#api/recipient-addresses/routes'
import { recipientNotification } from '#api/recipients/recipient-notification'
import { recipientEndpoints } from '#api/recipients/routes'
import { redemptionNotification, returnNotification } from '#api/redemptions/redemption-notifications'
import { redemptionEndpoints } from '#api/redemptions/routes'
import { reviewEndpoints } from '#api/reviews/routes'
import { screeningListEndpoints } from '#api/screenings/list-routes'
import { screeningEndpoints } from '#api/screenings/routes'
import { signingEndpoints } from '#api/signing/routes'
import { stablecoinEndpoints } from '#api/stablecoins/routes'
import { tokenEndpoints } from '#api/tokens/routes'
import { executionEndpoints } from '#api/transactions/execution-routes'
import { transactionEndpoints } from '#api/transactions/routes'
import { transactionNotification } from '#api/transactions/transaction-notification'
import { unifiedBalanceEndpoints } from '#api/unified-balance/routes'
import { commandLoginEndpoints } from '#api/users/command-routes'
import { loginEndpoints } from '#api/users/login-routes'
import { operatorUserEndpoints } from '#api/users/operator-routes'
import { userEndpoints } from '#api/users/routes'
import { socialEndpoints } from '#api/users/social-routes'
import { walletSetEndpoints } from '#api/wallet-sets/routes'
import { walletEndpoints } from '#api/wallets/routes'
import { gatewayNotification } from '#api/webhook-subscriptions/gateway-notification'
import { permissionlessSubscriptionEndpoints } from '#api/webhook-subscriptions/permissionless-routes'
import { webhookSubscriptionEndpoints } from '#api/webhook-subscriptions/routes'
import { batchedPaymentEndpoints } from '#api/x402/batched-routes'
import { x402PaymentNotification } from '#api/x402/payment-notification'
import { x402Endpoints } from '#api/x402/routes'
import type { Topics } from '#engines/webhooks/index'
import type { Endpoint } from '#runtime/http/endpoint'

export { attesterEndpoints } from '#api/attester/routes'
export { bankResultEndpoints } from '#api/bank-results/routes'
export { introduction } from '#api/interface/introduction'
export { notBuilt } from '#api/interface/not-built'
export { removedPaths } from '#api/interface/removed'
export { unansweredCodes } from '#api/interface/unanswered-codes'

/** Every operation of the API. */
export const endpoints: readonly Endpoint<never>[] = [
  ...configurationEndpoints,
  ...entityEndpoints,
  ...userEndpoints,
  ...loginEndpoints,
  ...commandLoginEndpoints,
  ...challengeEndpoints,
  ...pageChallengeEndpoints,
  ...commandChallengeEndpoints,
  ...socialEndpoints,
  ...walletSetEndpoints,
  ...walletEndpoints,
  ...balanceEndpoints,
  ...tokenEndpoints,
  ...monitoredTokenEndpoints,
  ...transactionEndpoints,
  ...executionEndpoints,
  ...signingEndpoints,
  ...reviewEndpoints,
  ...screeningEndpoints,
  ...screeningListEndpoints,
  ...contractEndpoints,
  ...templateEndpoints,
  ...eventMonitorEndpoints,
  ...jsonRpcEndpoints,
  ...modularWalletEndpoints,
  ...modularBalanceEndpoints,
  ...faucetEndpoints,
  ...paymentIntentEndpoints,
  ...paymentPageEndpoints,
  ...paymentEndpoints,
  ...businessBalanceEndpoints,
  ...payoutEndpoints,
  ...businessTransferEndpoints,
  ...recipientEndpoints,
  ...recipientAddressEndpoints,
  ...depositAddressEndpoints,
  ...stablecoinEndpoints,
  ...messageEndpoints,
  ...unifiedBalanceEndpoints,
  ...x402Endpoints,
  ...batchedPaymentEndpoints,
  ...businessDepositEndpoints,
  ...bankAccountEndpoints,
  ...redemptionEndpoints,
  ...subscriptionEndpoints,
  ...webhookSubscriptionEndpoints,
  ...permissionlessSubscriptionEndpoints,
  ...operatorEndpoints,
  ...operatorAuditEndpoints,
  ...operatorControlEndpoints,
  ...operatorPolicyEndpoints,
  ...operatorEventEndpoints,
  ...operatorKeyEndpoints,
  ...operatorMovementEndpoints,
  ...operatorNotificationEndpoints,
  ...operatorOverviewEndpoints,
  ...operatorRequestEndpoints,
  ...operatorSessionEndpoints,
  ...operatorTreasuryEndpoints,
  ...operatorChallengeEndpoints,
  ...operatorUserEndpoints,
  ...operatorModularWalletEndpoints,
  ...payoutBatchEndpoints,
  ...exportEndpoints,
  ...pageOriginEndpoints,
]

/** The operations that the page of users asks for, and the probe of its server. */
export const pageOperations = endpoints.filter(({ path }) => path.startsWith('/page/') || path === '/ping')

const probePaths = ['/ping', '/ready', '/metrics']

/** The operations that every process answers about itself, workers included. */
export const probes = endpoints.filter(({ path }) => probePaths.includes(path))

/** Topics of notifications, by the first part of the event's type; each shows its resource as its GET does. */
export const topics: Topics = {
  paymentIntent: {
    line: 'v1',
    name: 'paymentIntents',
    key: 'paymentIntent',
    show: paymentIntentNotification,
  },
  payment: { line: 'v1', name: 'payments', key: 'payment', show: paymentNotification },
  transfer: { line: 'v1', name: 'transfers', key: 'transfer', show: transferNotification },
  payout: { line: 'v1', name: 'payouts', key: 'payout', show: payoutNotification },
  wire: { line: 'v1', name: 'wire', key: 'wire', show: wireNotification },
  deposit: { line: 'v1', name: 'deposits', key: 'deposit', show: depositNotification },
  redemption: { line: 'v1', name: 'payouts', key: 'payout', show: redemptionNotification },
  return: { line: 'v1', name: 'returns', key: 'return', show: returnNotification },
  addressBookRecipient: {
    line: 'v1',
    name: 'addressBookRecipients',
    key: 'addressBookRecipient',
    show: recipientNotification,
  },
  // The transaction of a payment by x402 has the id of the payment, and is not shown itself.
  transaction: {
    line: 'v2',
    show: async (db, event) =>
      (await transactionNotification(db, event)) ?? x402PaymentNotification(db, event),
  },
  x402Payment: { line: 'v2', show: x402PaymentNotification },
  eventLog: { line: 'v2', show: eventLogNotification },
  userOperation: { line: 'v2', show: userOperationNotification },
  modularTransfer: { line: 'v2', show: modularTransferNotification },
  challenge: { line: 'v2', show: challengeNotification },
  gatewayEvent: { line: 'v2', show: gatewayNotification },
}
