import type { ReadTransaction } from './codec.ts'
import { NodeError } from './errors.ts'
import { sequenceOf } from './execute.ts'
import type { StateReader } from './state.ts'

export type Pending = { transaction: ReadTransaction; hash: string; arrivedMs: number }

/** Transactions that wait for a block, by sender and sequence. */
export type TransactionPool = {
  /** Adds a transaction once `record` has returned; throws, and records nothing, where another one keeps its place. */
  add(pending: Pending, record?: () => void): void
  remove(hash: string): void
  find(hash: string): Pending | undefined
  all(): Pending[]
  /** The transactions that are next of their senders, dearest first. */
  ready(state: StateReader): Pending[]
}

const perSenderMax = 100
/** A transaction of a later expiry is forgotten earlier: by the time of the node. */
const keptMs = 600_000

export const isForgotten = ({ arrivedMs }: Pending, nowMs: number): boolean => nowMs - arrivedMs >= keptMs

export function createPool(): TransactionPool {
  const senders = new Map<string, Map<bigint, Pending>>()
  const hashes = new Map<string, Pending>()
  const remove = (hash: string) => {
    const pending = hashes.get(hash)
    if (!pending) return
    const { sender, sequence } = pending.transaction
    hashes.delete(hash)
    const queue = senders.get(sender)!
    queue.delete(sequence)
    if (queue.size === 0) senders.delete(sender)
  }
  return {
    add: (pending, record) => {
      const { sender, sequence } = pending.transaction
      const queue = senders.get(sender) ?? new Map<bigint, Pending>()
      const current = queue.get(sequence)
      if (current) requireDearer(current.transaction, pending.transaction)
      else if (queue.size >= perSenderMax)
        throw new NodeError(
          'mempool_is_full',
          `The pool holds ${perSenderMax} transactions of the sender already`,
        )
      record?.()
      if (current) remove(current.hash)
      senders.set(sender, queue.set(sequence, pending))
      hashes.set(pending.hash, pending)
    },
    remove,
    find: (hash) => hashes.get(hash),
    all: () => [...hashes.values()],
    ready: (state) =>
      [...senders]
        .flatMap(([sender, queue]) => queue.get(sequenceOf(state, sender)) ?? [])
        .sort((one, other) => Number(other.transaction.gasPrice - one.transaction.gasPrice)),
  }
}

/** Only a dearer transaction that is otherwise the same takes the place of another. */
function requireDearer(current: ReadTransaction, next: ReadTransaction): void {
  const isSame =
    JSON.stringify(current.call) === JSON.stringify(next.call) &&
    current.expiryS === next.expiryS &&
    current.maxGas === next.maxGas
  if (!isSame || next.gasPrice <= current.gasPrice)
    throw new NodeError(
      'invalid_transaction_update',
      'The pool holds a transaction of this sequence number: only the same payload, expiry and max_gas_amount with a higher gas_unit_price takes its place',
    )
}
