import { canonicalAddress } from '#chains/addresses/canonical'
import { entryPoint } from '#chains/entry-point'
import type { BlockOperations } from '#chains/facets/accounts'
import type { Block, TransferLog } from '#chains/facets/blocks'
import { type CoinMovement, coinMovements, type Managed, movesOfPaymasters } from './observe-operations.ts'

const payer = canonicalAddress(entryPoint)

type ToldMovement = { txHash: string; from: string; to: string; amountAtomic: bigint }

/**
 * The transfers of a block by its logs, without those that tell of native coins what is booked without a log. Some chains write a
 * log for every movement of them, and others, local ones among them, only for movements of which nothing else tells.
 */
export function withoutRepeated(block: Block, executed: BlockOperations, managed: Managed): TransferLog[] {
  if (block.transfers.every(({ token }) => token !== undefined)) return block.transfers
  const isNew = unlessAmong(toldIn(block, executed, managed))
  return block.transfers.filter((log) => log.token !== undefined || isNew(log))
}

/** The coins that operations claim to have moved, without those of which a log tells: a log is proof, and a claim is none. */
export const claimedCoins = (executed: BlockOperations, logs: readonly TransferLog[]): CoinMovement[] =>
  coinMovements(executed).filter(unlessAmong(logs.filter(({ token }) => token === undefined)))

/** Tells whether a movement is none of these; each of them is taken for one movement. */
function unlessAmong(told: readonly ToldMovement[]): (movement: ToldMovement) => boolean {
  const left = new Map<string, number>()
  for (const each of told) left.set(keyOf(each), (left.get(keyOf(each)) ?? 0) + 1)
  return (movement) => {
    const count = left.get(keyOf(movement)) ?? 0
    if (count > 0) left.set(keyOf(movement), count - 1)
    return count === 0
  }
}

const keyOf = ({ txHash, from, to, amountAtomic }: ToldMovement) => `${txHash} ${from} ${to} ${amountAtomic}`

/** The coins that a new contract begins with are left to the log: its transaction names no recipient. */
const toldIn = ({ transactions }: Block, executed: BlockOperations, managed: Managed): ToldMovement[] => [
  ...transactions.flatMap(({ hash: txHash, from, to, valueAtomic: amountAtomic }) =>
    to !== undefined && amountAtomic > 0n ? [{ txHash, from, to, amountAtomic }] : [],
  ),
  ...executed.compensations.map(({ txHash, beneficiary: to, amountAtomic }) => ({
    txHash,
    from: payer,
    to,
    amountAtomic,
  })),
  // An addition to a deposit is the value of its transaction.
  ...movesOfPaymasters(executed, managed).flatMap(({ txHash, kind, to, amountAtomic }) =>
    kind === 'log' ? [{ txHash, from: payer, to, amountAtomic }] : [],
  ),
]
