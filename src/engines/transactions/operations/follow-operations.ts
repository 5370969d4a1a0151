import { type ObservedOperation, observedOperationsOf, type Step } from '#engines/indexer/index'
import type { Db } from '#runtime/db/db'
import { transactionsOfAccounts } from '../store/operations.ts'
import type { Ref } from '../store/transactions.ts'
import { refOf } from './nonce.ts'

/** The transactions of smart accounts whose operations a block holds, whatever bundle brought them there. */
export async function minedOperations(
  tx: Db,
  { blockchain, blockHash }: Step,
): Promise<(Ref & { seen: ObservedOperation })[]> {
  const found = (await observedOperationsOf(tx, blockchain, blockHash)).flatMap((seen) => {
    const ref = refOf(seen)
    return ref ? [{ ...ref, seen }] : []
  })
  if (found.length === 0) return []
  const own = new Set(
    (await transactionsOfAccounts(tx, found)).map(({ entityId, id }) => `${entityId}:${id}`),
  )
  return found.filter(({ entityId, id }) => own.has(`${entityId}:${id}`))
}
