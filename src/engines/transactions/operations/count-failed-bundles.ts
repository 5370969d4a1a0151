import { observedTransactionsOf } from '#engines/indexer/observed/index'
import type { Db } from '#runtime/db/db'
import { failedInBlocks } from '../store/operations.ts'
import { addFailedGas } from '../store/sponsorships.ts'
import type { Ref } from '../store/transactions.ts'

/**
 * Counts the gas of those of the bundles that failed in their blocks, in equal parts for their operations: a stranger can use the
 * nonce of an operation elsewhere, and then the treasury has paid for verifying all others in vain.
 */
export async function countFailedBundles(tx: Db, nowMs: number, bundles: readonly Ref[]): Promise<void> {
  for (const { blockchain, blockHash, txHash, ...bundle } of await failedInBlocks(tx, bundles)) {
    const mined = await observedTransactionsOf(tx, blockchain, blockHash)
    const seen = mined.find((each) => each.entityId === bundle.entityId && each.txHash === txHash)
    if (seen) await addFailedGas(tx, nowMs, bundle, seen.gasUsed)
  }
}
