import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { leftOutFiles } from './drawn-files.ts'

/** Test files that take long, the longest first: what runs only at the deep size has no duration of an earlier run. */
const slow = [
  'testing/suites/processes/package.test.ts',
  'testing/suites/pages/user-page.test.ts',
  'src/engines/attestation/attesters.test.ts',
  'testing/suites/clients/examples.test.ts',
  'src/engines/transactions/operations/exactly-once.test.ts',
  'src/engines/transactions/sequence/nonce-too-low.test.ts',
  'testing/suites/lab/snapshots.test.ts',
  'testing/suites/processes/crash.test.ts',
  'testing/suites/databases/statement-plans.test.ts',
  'src/engines/transactions/journal/restore.test.ts',
  'testing/adversary/matrix.test.ts',
  'testing/suites/api/collections.test.ts',
  'src/engines/attestation/lost.test.ts',
  'src/engines/transactions/sequence/replace.test.ts',
  'src/engines/treasury/reconciliation/money-proof.test.ts',
  'src/engines/treasury/disbursements/reopened.test.ts',
  'src/engines/treasury/disbursements/restored.test.ts',
  'testing/conformance/further-family.test.ts',
  'src/sandbox/chain-control/chain-control.test.ts',
  'testing/suites/processes/process.test.ts',
  'testing/suites/processes/operate.test.ts',
  'testing/suites/processes/staging.test.ts',
  'src/engines/transactions/sequence/price-refusals.test.ts',
  'src/engines/transactions/provider-trouble.test.ts',
  'src/engines/transactions/refusal.test.ts',
  'src/engines/indexer/follow.test.ts',
  'src/engines/treasury/sweeping/sweep.test.ts',
  'src/engines/treasury/deposits/missed-blocks.test.ts',
  'src/engines/treasury/reconciliation/busy-money.test.ts',
  'src/api/transactions/create-transfer.test.ts',
  'src/engines/transactions/pipeline.test.ts',
  'src/engines/transactions/failover.test.ts',
  'testing/suites/processes/frozen-processes.test.ts',
  'testing/suites/processes/kept-files.test.ts',
  'src/engines/webhooks/faults.test.ts',
  'src/engines/transactions/screening.test.ts',
  'src/engines/tokens/any-token.test.ts',
  'src/api/json-rpc/user-operations/user-operations.test.ts',
  'src/api/payouts/property-5.test.ts',
  'src/cli/adjust.test.ts',
  'testing/suites/processes/foreign-database.test.ts',
  'testing/suites/processes/memory.test.ts',
]

const isNamed = ({ moduleId }: TestSpecification, name: string) => moduleId.endsWith(`/${name}`)
const placeOf = (file: TestSpecification) => {
  const place = slow.findIndex((name) => isNamed(file, name))
  return place < 0 ? slow.length : place
}

/** A run of fewer files was asked for by name, and leaves none out. */
const wholeSuiteMin = 100

/**
 * Starts the slow files first, so that a run does not end waiting for one of them, and leaves out those that a run of the
 * whole suite did not draw. Vitest itself orders by the durations of the previous run, which a fresh clone does not have.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const leftOutNames = files.length < wholeSuiteMin ? [] : leftOutFiles(this.ctx.config.env)
    const sorted = (await super.sort(files)).filter(
      (file) => !leftOutNames.some((name) => isNamed(file, name)),
    )
    const leftOut = files.length - sorted.length
    if (leftOut > 0)
      process.stdout.write(
        `${leftOut} slow files are left out, others in each run: npm run test:drawn runs all of them\n`,
      )
    return sorted.sort((a, b) => placeOf(a) - placeOf(b))
  }
}
