import { randomInt } from 'node:crypto'
import { seededRandom } from './adversary/seeded-random.ts'

/**
 * Test files that wait long, of which a run of the whole suite draws half. Each is in the part that `.ci/run` repeats on the
 * system's PostgreSQL, where none is left out.
 */
const files = [
  'src/engines/indexer/event-logs.test.ts',
  'src/engines/indexer/false-contents.test.ts',
  'src/engines/indexer/follow.test.ts',
  'src/engines/tokens/proven-transfers.test.ts',
  'src/engines/transactions/final-tag.test.ts',
  'src/engines/transactions/journal/restore.test.ts',
  'src/engines/transactions/liveness.test.ts',
  'src/engines/transactions/nonce-too-low.test.ts',
  'src/engines/transactions/price-refusals.test.ts',
  'src/engines/transactions/provider-trouble.test.ts',
  'src/engines/transactions/refusal.test.ts',
  'src/engines/transactions/replace.test.ts',
  'src/engines/transactions/screening-provider.test.ts',
  'src/engines/transactions/turns.test.ts',
  'src/engines/treasury/deposits/missed-blocks.test.ts',
  'src/engines/treasury/disbursements/crashes.test.ts',
  'src/engines/treasury/disbursements/reopened.test.ts',
  'src/engines/treasury/disbursements/shortage.test.ts',
  'src/engines/treasury/disbursements/waiting.test.ts',
  'src/engines/treasury/reconciliation/money-proof.test.ts',
  'src/engines/webhooks/faults.test.ts',
]

/** Files that a run of this size leaves out, others in each run; none where all draws are wanted, as in `testing/drawn.ts`. */
export function leftOutFiles(size: string | undefined): readonly string[] {
  if (size === 'deep' || process.env['TEST_DRAWS'] === 'all') return []
  return seededRandom(randomInt(2 ** 31)).sample(files, Math.floor(files.length / 2))
}
