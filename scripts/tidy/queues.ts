import { queues } from '../../src/runtime/turns/queues.ts'
import type { Rule } from './repository.ts'

/** Claims of engines that no tenant can block, and the reasons. */
const exempt: Record<string, string> = {
  'src/engines/treasury/address-book/store/recipient-addresses.ts recipientAddressHold':
    'the clock of a sandbox stops there',
  'src/engines/treasury/address-book/store/recipients.ts recipientHold': 'the clock of a sandbox stops there',
  'src/engines/treasury/banking/store/accounts.ts bankAccountDecision': 'the clock of a sandbox stops there',
  'src/engines/treasury/banking/store/orders.ts redemptionDecision': 'the clock of a sandbox stops there',
  'src/engines/treasury/payment-intents/store.ts paymentIntentExpiry': 'the clock of a sandbox stops there',
  'src/engines/unified-balance/store/burns.ts unifiedBalanceBurn': 'the clock of a sandbox stops there',
  'src/engines/webhooks/store/subscriptions.ts delivery': 'the clock of a sandbox stops there',
  'src/engines/webhooks/store/subscriptions.ts confirmation': 'the clock of a sandbox stops there',
  'src/engines/webhooks/store/subscriptions.ts removal': 'the clock of a sandbox stops there',
  'src/engines/facilitator/store.ts lockDue': 'one payment, which a claim chose',
  'src/engines/treasury/store/movements.ts moneyLinks': 'an operator is shown so many',
  'src/engines/webhooks/store/logged-notifications.ts deliveriesOf': 'an operator is shown so many',
  'src/engines/treasury/disbursements/store/disbursements.ts resumeWaiting': 'one tenant',
  'src/engines/unified-balance/store/payments.ts claimPayments':
    'payments belong to no tenant, and a batch takes a thousand',
  'src/engines/unified-balance/store/payments.ts countWaiting': 'payments of one payer',
  'src/engines/unified-balance/store/payments.ts expirePayments': 'payments belong to no tenant',
  'src/engines/unified-balance/store/payments.ts lockFailedBatches': 'batches belong to no tenant',
  'src/engines/unified-balance/store/movements.ts heldDeposits': 'of no tenant, the longest held first',
  'src/engines/modular/store/mappings.ts removeOldestClaims': 'claims of one wallet',
  'src/engines/webhooks/store/deliveries.ts waitingOfSubscription': 'a count for one subscription',
  'src/engines/modular/store/mappings.ts boundMappings': 'an answer shows so many',
  'src/engines/modular/store/mappings.ts movedClaims': 'claims of one owner',
  'src/engines/modular/store/mappings.ts removeEndedClaims': 'one tenant',
  'src/engines/indexer/reconciliation/store.ts addressesMovedBetween':
    'a round over all addresses compares the rest',
  'src/engines/indexer/store/blocks.ts contentHashesBetween': 'one chain',
  'src/engines/indexer/reconciliation/store.ts openGaps': 'an operator is shown so many',
  'src/engines/indexer/reconciliation/store.ts countOpenGaps': 'one tenant',
  'src/engines/indexer/reconciliation/store.ts gapCounts': 'counted for metrics, and claimed by none',
  'src/engines/indexer/observed/store/tokens.ts undecidedClaims': 'those of balances that a claim chose',
  'src/engines/indexer/events/store/histories.ts openHistories': 'counted for metrics, and claimed by none',
  'src/engines/transactions/store/queue.ts queueDepths': 'counted for metrics, and claimed by none',
  'src/engines/webhooks/store/deliveries.ts recordAttempts': 'those that were made',
  'src/engines/webhooks/store/deliveries.ts waitingDeliveries': 'counted for metrics, and claimed by none',
  'src/engines/audit/store/linked-events.ts linkedEvents': 'one entity',
  'src/engines/audit/store/trail.ts trailPage': 'an operator verifies or exports all pages',
  'src/engines/audit/store/trail.ts strayEntries': 'an operator is shown so many',
  'src/engines/audit/store/trail.ts strayHeads': 'an operator is shown so many',
  'src/engines/audit/store/trail.ts strayEntriesPage': 'one tenant',
  'src/engines/compliance/store/reviews.ts pendingReviews': 'an operator is shown so many',
  'src/engines/transactions/history/store/open-transactions.ts stuckOf': 'an operator is shown so many',
  'src/engines/treasury/disbursements/store/disbursements.ts heldDisbursements':
    'an operator is shown so many',
  'src/engines/movements/search/store.ts findRows': 'an operator is shown so many',
  'src/engines/movements/search/store.ts madeWithKey': 'one tenant',
  'src/engines/treasury/store/movements.ts sweeps': 'an operator is shown so many',
  'src/engines/webhooks/figures/store.ts failingSubscriptions': 'an operator is shown so many',
  'src/engines/webhooks/figures/store.ts deliveryFigures': 'one tenant',
  'src/engines/compliance/store/lists.ts listHistory': 'an operator is shown so many',
  'src/engines/compliance/store/entries.ts endUnstaged': 'of one list, in one database transaction',
  'src/engines/indexer/store/steps.ts claimStep': 'one chain',
  'src/engines/ledger/closing/store/journal.ts postingsOf': 'one tenant',
  'src/engines/ledger/closing/store/journal.ts journalLines': 'one tenant',
  'src/engines/ledger/closing/store/journal.ts exportedAccounts': 'one tenant',
  'src/engines/ledger/closing/store/journal.ts statementLines': 'one tenant',
  'src/engines/ledger/store/check.ts checkBooks': 'an operator is shown so many',
  'src/engines/transactions/store/attempts.ts nonceStates': 'nonces of a few addresses',
  'src/engines/transactions/store/attempts.ts markAttemptsMined': 'attempts for one nonce',
  'src/engines/transactions/store/attempts.ts markDisplaced': 'attempts for one nonce',
  'src/engines/transactions/store/contract-abis.ts abisWithErrors': 'one contract',
  'src/engines/transactions/store/journal-copies.ts copyAttempts': 'attempts for one nonce',
  'src/engines/attestation/store/lost-burns.ts lostBurns': 'an operator is shown so many',
  'src/engines/attestation/store/messages.ts claimMessages':
    'messages belong to no tenant, and each takes a signature',
  'src/engines/attestation/store/messages.ts fastBlocks': 'blocks belong to no tenant',
  'src/engines/attestation/store/messages.ts messagesBy': 'an answer shows so many',
  'src/engines/attestation/store/messages.ts claimForwarded': 'one treasury pays for all',
  'src/engines/attestation/store/proposals.ts dropLateProposals':
    'messages belong to no tenant, and all late ones are dropped',
  'src/engines/attestation/store/proposals.ts claimProposals': 'messages belong to no tenant',
  'src/engines/attestation/store/proposals.ts claimSigned': 'messages belong to no tenant',
  'src/engines/attestation/store/message-history.ts messagesDeliveredBy': 'one transaction',
  'src/engines/unified-balance/store/transfer-history.ts transfersBurnedBy': 'one transaction',
  'src/engines/unified-balance/store/burns.ts claimBurns': 'one treasury pays for all',
  'src/engines/unified-balance/store/burns.ts lockFailedBurns': 'one treasury pays for all',
  'src/engines/unified-balance/store/forwards.ts claimForwards': 'one treasury pays for all',
  'src/engines/unified-balance/store/proof.ts unifiedBookErrors': 'an operator is shown so many',
  'src/engines/unified-balance/store/movements.ts pendingDeposits': 'an answer shows so many',
  'src/engines/tokens/store.ts checksOf': 'one wallet',
  'src/engines/tokens/store.ts followable': 'the balances of each wallet',
  'src/engines/transactions/store/operations.ts lockWaiting': 'those that a claim chose',
  'src/engines/transactions/store/screening.ts lockUnscreened': 'those that a claim chose',
  'src/engines/transactions/store/sponsors.ts unregisteredSponsors': 'read until none is left',
  'src/engines/transactions/store/sponsors.ts retiredPaymasters': 'all are read, page by page',
  'src/engines/transactions/store/sponsors.ts usdcSponsorsOn': 'all are read, page by page',
  'src/engines/transactions/store/transactions.ts waitingOf': 'one sender',
  'src/engines/transactions/store/transactions.ts lockUnsigned':
    'those that hold a balance which was claimed',
  'src/engines/treasury/reconciliation/store/check-merchants.ts checkMerchants':
    'an operator is shown so many',
  'src/engines/treasury/deposits/store/fiat-deposits.ts lockLostWire':
    'each is ended by the `tx` that claims it',
  'src/engines/treasury/disbursements/store/disbursements.ts lockEnded':
    'those that endedDisbursements chose',
  'src/engines/treasury/sweeping/store.ts unsweptOf': 'one tenant',
  'src/engines/treasury/rebalancing/store.ts rebalancingsToBurn':
    'an entity has one, and one that cannot move is deferred',
  'src/engines/treasury/rebalancing/store.ts lockOpen': 'one that rebalancingsToBurn chose',
  'src/engines/treasury/rebalancing/store.ts rebalancingsToMint':
    'an entity has one, and one that cannot move is deferred',
  'src/engines/treasury/rebalancing/store.ts lockToMint': 'one that rebalancingsToMint chose',
  'src/engines/webhooks/store/deliveries.ts dueDeliveries': 'one subscription',
  'src/engines/webhooks/store/logged-notifications.ts requeueRange': 'one subscription',
  'src/engines/webhooks/store/queue.ts takeQueued': 'one tenant',
  'src/engines/webhooks/store/queue.ts dropOldest': 'the subscriptions of one tenant',
  'src/engines/webhooks/store/subscriptions.ts expireDetails':
    'each is ended by the statement that claims it',
  'src/engines/webhooks/store/subscriptions.ts removeDead': 'each is removed by the statement that claims it',
}

const bounded = /\blimit (\$\{|\d\d)|skip locked/

/** Top-level functions of a file, each with its text. */
const functionsOf = (text: string) =>
  text.split(/^(?=(?:export )?(?:(?:async )?function\*?|const) \w+)/m).map((part) => ({
    name: /^(?:export )?(?:(?:async )?function\*?|const) (\w+)/.exec(part)?.[1] ?? '',
    part,
  }))

export const queueRule: Rule = {
  name: 'tenants take turns at every queue',
  why: 'A claim of an engine is made with takeInTurns, for a queue that testing/suites/databases/turns.test.ts starves, or is exempt with a reason.',
  check: (repository) => {
    const claims = repository.matching(/^src\/engines\/.*\/store(\/.*)?\.ts$/).flatMap(({ path, text }) =>
      functionsOf(text)
        .filter(({ part }) => bounded.test(part.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')))
        .filter(({ part }) => !/inTurns\(/i.test(part))
        .map(({ name }) => `${path} ${name}`),
    )
    const code = repository.matching(/^src\/.*\.ts$/).filter(({ path }) => !path.endsWith('.test.ts'))
    return [
      ...claims.filter((claim) => !(claim in exempt)).map((claim) => `${claim} does not take turns`),
      ...Object.keys(exempt)
        .filter((claim) => !claims.includes(claim))
        .map((claim) => `scripts/tidy/queues.ts: ${claim} needs no exemption`),
      ...queues
        .filter((queue) => !code.some(({ text }) => text.includes(`newTurn('${queue}')`)))
        .map((queue) => `src/runtime/turns/queues.ts: nobody claims from "${queue}"`),
    ]
  },
}
