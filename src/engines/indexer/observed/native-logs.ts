import type { BlockOperations } from '#chains/facets/accounts'
import type { Block, TransferLog } from '#chains/facets/blocks'
import { coinMovements } from './observe-operations.ts'

/** A movement of native coins that is known without a log. The EntryPoint is the sender where none is named. */
type ToldMovement = { txHash: string; from?: string; to: string; amountAtomic: bigint }

/**
 * The transfers of a block by its logs, without those that tell of native coins what is known already. Some chains write a log for
 * every movement of them, and others, local ones among them, only for movements of which nothing else tells.
 */
export function withoutRepeated(block: Block, executed: BlockOperations): TransferLog[] {
  if (block.transfers.every(({ token }) => token !== undefined)) return block.transfers
  const told = new Map<string, ToldMovement[]>()
  for (const movement of toldIn(block, executed)) {
    const key = keyOf(movement)
    told.set(key, [...(told.get(key) ?? []), movement])
  }
  return block.transfers.filter((log) => log.token !== undefined || !takeTold(told.get(keyOf(log)), log))
}

const keyOf = ({ txHash, amountAtomic }: Pick<ToldMovement, 'txHash' | 'amountAtomic'>) =>
  `${txHash} ${amountAtomic}`

/** Removes the movement of which the log tells, since each has one log; false where there is none. */
function takeTold(told: ToldMovement[] | undefined, { from, to }: TransferLog): boolean {
  const index = told?.findIndex((each) => (each.from ?? from) === from && each.to === to) ?? -1
  if (index < 0) return false
  told!.splice(index, 1)
  return true
}

/** The coins that a new contract begins with are left to the log: its transaction names no recipient. */
const toldIn = ({ transactions }: Block, executed: BlockOperations): ToldMovement[] => [
  ...transactions.flatMap(({ hash: txHash, from, to, valueAtomic: amountAtomic }) =>
    to !== undefined && amountAtomic > 0n ? [{ txHash, from, to, amountAtomic }] : [],
  ),
  ...coinMovements(executed),
  ...executed.compensations.map(({ txHash, beneficiary: to, amountAtomic }) => ({
    txHash,
    to,
    amountAtomic,
  })),
  // An addition to a deposit is the value of its transaction.
  ...executed.depositMoves.flatMap(({ txHash, kind, to, amountAtomic }) =>
    kind === 'log' ? [{ txHash, to, amountAtomic }] : [],
  ),
]
