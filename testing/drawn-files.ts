import { randomInt } from 'node:crypto'
import { seededRandom } from './adversary/seeded-random.ts'

/**
 * Test files that wait long, of which a run of the whole suite draws half. `.ci/run` runs all of them: those of `src` on the
 * system's PostgreSQL, the others at the deep size.
 */
const files = [
  'src/api/contracts/revert-reasons.test.ts',
  'src/api/deposit-addresses/deposit-addresses.test.ts',
  'src/api/payments/refund-payment-intent.test.ts',
  'src/api/payouts/property-5.test.ts',
  'src/api/transactions/policy.test.ts',
  'src/api/transactions/upgrade-wallet.test.ts',
  'src/custody/rotation.test.ts',
  'src/custody/user-keys/guesses.test.ts',
  'src/engines/indexer/event-logs.test.ts',
  'src/engines/indexer/false-contents.test.ts',
  'src/engines/indexer/follow.test.ts',
  'src/engines/indexer/reorgs.test.ts',
  'src/engines/tokens/any-token.test.ts',
  'src/engines/tokens/metadata/metadata.test.ts',
  'src/engines/tokens/proven-transfers.test.ts',
  'src/engines/transactions/ambiguous-send.test.ts',
  'src/engines/transactions/final-tag.test.ts',
  'src/engines/transactions/journal/repeat.test.ts',
  'src/engines/transactions/journal/restore.test.ts',
  'src/engines/transactions/liveness.test.ts',
  'src/engines/transactions/nonce-too-low.test.ts',
  'src/engines/transactions/operations/bundles.test.ts',
  'src/engines/transactions/operations/drain.test.ts',
  'src/engines/transactions/operations/exactly-once.test.ts',
  'src/engines/transactions/operations/smart-accounts.test.ts',
  'src/engines/transactions/pipeline.test.ts',
  'src/engines/transactions/price-refusals.test.ts',
  'src/engines/transactions/provider-trouble.test.ts',
  'src/engines/transactions/receipt-silence.test.ts',
  'src/engines/transactions/received.test.ts',
  'src/engines/transactions/refusal.test.ts',
  'src/engines/transactions/replace.test.ts',
  'src/engines/transactions/screening-provider.test.ts',
  'src/engines/transactions/screening.test.ts',
  'src/engines/transactions/turns.test.ts',
  'src/engines/treasury/bundling/booked-deposits.test.ts',
  'src/engines/treasury/deposits/missed-blocks.test.ts',
  'src/engines/treasury/disbursements/crashes.test.ts',
  'src/engines/treasury/disbursements/reopened.test.ts',
  'src/engines/treasury/disbursements/shortage.test.ts',
  'src/engines/treasury/disbursements/waiting.test.ts',
  'src/engines/treasury/reconciliation/busy-money.test.ts',
  'src/engines/treasury/reconciliation/money-proof.test.ts',
  'src/engines/webhooks/faults.test.ts',
  'src/engines/webhooks/notifications.test.ts',
  'src/engines/webhooks/order-of-changes.test.ts',
  'src/engines/webhooks/webhooks.test.ts',
  'testing/frozen-processes.test.ts',
  'testing/kept-files.test.ts',
  'testing/process.test.ts',
]

/** Files that a run of this size leaves out, others in each run; none where all draws are wanted, as in `testing/drawn.ts`. */
export function leftOutFiles(size: string | undefined): readonly string[] {
  if (size === 'deep' || process.env['TEST_DRAWS'] === 'all') return []
  return seededRandom(randomInt(2 ** 31)).sample(files, Math.floor(files.length / 2))
}
