import { networkOf } from '#chains/networks/index'
import type { Step } from '#engines/indexer/index'
import { type ObservedOperation, observedOperationsOf } from '#engines/indexer/observed/index'
import type { Db } from '#runtime/db/db'
import { transactionsOfAccounts } from '../store/operations.ts'
import { setUsedGas, setUsedGasOf } from '../store/sponsorships.ts'
import type { Ref } from '../store/transactions.ts'
import { transactionOfNonce } from './nonce.ts'

type MinedOperation = Ref & { seen: ObservedOperation }

/** The operations that a block holds: those of transactions here, whatever bundle brought them there, and all others. */
async function operationsIn(tx: Db, { blockchain, blockHash }: Step) {
  const all = await observedOperationsOf(tx, blockchain, blockHash)
  const named = all.flatMap((seen): MinedOperation[] => {
    const ref = transactionOfNonce(seen)
    return ref ? [{ ...ref, seen }] : []
  })
  if (named.length === 0) return { own: [], others: all }
  const keyOf = ({ entityId, id }: Ref) => `${entityId}:${id}`
  const known = new Set((await transactionsOfAccounts(tx, named)).map(keyOf))
  const own = named.filter((ref) => known.has(keyOf(ref)))
  const seen = new Set(own.map((each) => each.seen))
  return { own, others: all.filter((each) => !seen.has(each)) }
}

/** Counts the gas that the operations of a block used; returns those of transactions here. */
export async function minedOperations(tx: Db, nowMs: number, step: Step): Promise<MinedOperation[]> {
  const { own, others } = await operationsIn(tx, step)
  await countGas(tx, nowMs, step, { own, others }, ({ gasUsed }) => gasUsed)
  return own
}

/** The operations of an orphaned block count as promised again. */
export const returnGas = async (tx: Db, nowMs: number, step: Step): Promise<void> =>
  countGas(tx, nowMs, step, await operationsIn(tx, step), () => null)

async function countGas(
  tx: Db,
  nowMs: number,
  { blockchain }: Step,
  { own, others }: Awaited<ReturnType<typeof operationsIn>>,
  gasOf: (seen: ObservedOperation) => bigint | null,
): Promise<void> {
  const isWhole = networkOf(blockchain)?.chargesGasLimit === true
  if (own.length > 0)
    await setUsedGasOf(
      tx,
      nowMs,
      { isWhole },
      own.map(({ entityId, id, seen }) => ({ entityId, id, gasUsed: gasOf(seen) })),
    )
  if (others.length > 0)
    await setUsedGas(
      tx,
      nowMs,
      { blockchain, isWhole },
      others.map((seen) => ({ ...seen, gasUsed: gasOf(seen) })),
    )
}
