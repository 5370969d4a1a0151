import { actsPage } from '#engines/audit/index'
import { screeningsPage } from '#engines/compliance/index'
import { eventLogsPage } from '#engines/indexer/events/index'
import { entriesPage } from '#engines/ledger/index'
import { listTransactions } from '#engines/transactions/index'
import { findBusinessTransfers, findPayments } from '#engines/treasury/deposits/index'
import { findPayouts } from '#engines/treasury/disbursements/index'
import { findPaymentIntents } from '#engines/treasury/payment-intents/index'
import { notificationsPage } from '#engines/webhooks/index'
import type { PageQuery } from '#runtime/collection/query'
import type { Db } from '#runtime/db/db'
import { eventsPage } from '#runtime/record/store'
import { requestsPage } from '#runtime/request-log/store'
import { rareTransaction, walletCount, walletIdOf } from '../rows.ts'
import { rareAccount, rareAddress, rareId, sharedAccount } from './fill.ts'

type ReadPage = (db: Db, entityId: string, page: PageQuery) => Promise<{ rows: readonly { id: string }[] }>

/** A list with the filters that its operation documents: by name, the page of each. The first one has none. */
export type BigList = { table: string; reads: Record<string, ReadPage> }

/** A list whose function takes filters. */
function listOf<Filters>(
  table: string,
  read: (db: Db, entityId: string, filters: Filters, page: PageQuery) => ReturnType<ReadPage>,
  filters: Record<string, Filters>,
): BigList {
  const reads = Object.entries(filters).map(([name, each]): [string, ReadPage] => [
    name,
    (db, entityId, page) => read(db, entityId, each, page),
  ])
  return { table, reads: Object.fromEntries(reads) }
}

export const bigLists: readonly BigList[] = [
  listOf(
    'transactions',
    (db, entityId, filters: Parameters<typeof listTransactions>[2], page) =>
      listTransactions(db, { entityId }, filters, page),
    {
      'no filter': {},
      includeAll: { includeAll: true },
      blockchain: { blockchain: rareTransaction.blockchain },
      custodyType: { custodyType: rareTransaction.custodyType },
      destinationAddress: { destinationAddress: rareTransaction.destination },
      operation: { operation: rareTransaction.operation },
      'state=COMPLETE': { state: 'COMPLETE' },
      'state=FAILED': { state: 'FAILED' },
      'state=SENT': { state: 'SENT' },
      txHash: { txHash: `0x${'00'.repeat(32)}` },
      'txType=INBOUND': { txType: 'INBOUND' },
      userId: { userId: rareTransaction.userId },
      walletIds: { walletIds: [walletIdOf(5)] },
      'three walletIds': { walletIds: [5, 6, 7].map(walletIdOf) },
      'a rare wallet and a usual one': { walletIds: [5, walletCount].map(walletIdOf) },
    },
  ),
  listOf('events', eventsPage, {
    'no filter': {},
    type: { type: 'transaction.sent' },
    'rare type': { type: 'payout.failed' },
    'types of a resource': { type: 'transaction.*' },
    resourceId: { resourceId: rareId },
  }),
  listOf('audit', actsPage, {
    'no filter': {},
    actor: { actor: 'transactions' },
    'rare actor': { actor: 'member:rare' },
    action: { action: 'payout.failed' },
    resourceId: { resourceId: rareId },
  }),
  listOf('entries', (db, entityId, accountId: string, page) => entriesPage(db, entityId, accountId, page), {
    'of the account of all': sharedAccount,
    'of a rare account': rareAccount,
  }),
  listOf('notifications', notificationsPage, {
    'no filter': {},
    topic: { topic: 'transactions.outbound' },
    'rare topic': { topic: 'payouts' },
    resourceId: { resourceId: rareId },
    subscriptionId: { subscriptionId: rareId },
    'state=delivered': { state: 'delivered' },
    'state=failed': { state: 'failed' },
    'state=waiting': { state: 'waiting' },
  }),
  listOf('requests', requestsPage, {
    'no filter': {},
    method: { method: 'DELETE' },
    route: { route: '/rare' },
    'status=503': { status: '503' },
    'status=5xx': { status: '5xx' },
    apiKeyId: { apiKeyId: rareId },
    idempotencyKey: { idempotencyKey: rareId },
    resourceId: { resourceId: rareId },
  }),
  listOf('payments', findPayments, {
    'no filter': {},
    'status=paid': { status: 'paid' },
    'status=failed': { status: 'failed' },
    'status=pending': { status: 'pending' },
    paymentIntentId: { paymentIntentId: rareId },
  }),
  listOf('payouts', findPayouts, {
    'no filter': { currencies: [] },
    destination: { recipientId: rareId, currencies: [] },
    'status=failed': { statuses: ['failed'], currencies: [] },
    'two statuses': { statuses: ['pending', 'failed'], currencies: [] },
    currency: { currencies: ['EUR'] },
    chain: { blockchain: 'ETH-SEPOLIA', currencies: [] },
  }),
  listOf('transfers', findBusinessTransfers, {
    'no filter': { matchesNothing: false },
    incoming: { direction: 'in', matchesNothing: false },
    outgoing: { direction: 'out', matchesNothing: false },
  }),
  listOf('payment_intents', findPaymentIntents, {
    'no filter': {},
    'status=complete': { status: 'complete' },
    'status=expired': { status: 'expired' },
    'context=underpaid': { context: 'underpaid' },
    'context=overpaid': { context: 'overpaid' },
  }),
  listOf('event_logs', eventLogsPage, {
    'no filter': { contractAddress: undefined, blockchain: undefined },
    contractAddress: { contractAddress: rareAddress, blockchain: undefined },
    blockchain: { contractAddress: undefined, blockchain: 'ETH-SEPOLIA' },
  }),
  listOf('screenings', screeningsPage, {
    'no filter': {},
    'result=DENIED': { result: 'DENIED' },
    'result=APPROVED': { result: 'APPROVED' },
    chain: { chain: 'ETH-SEPOLIA' },
    address: { address: rareAddress },
  }),
]
