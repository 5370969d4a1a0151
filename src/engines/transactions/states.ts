/** The states of a transaction and the transitions between them; nothing else may change a state. */
export const states = [
  'INITIATED',
  'CLEARED',
  'QUEUED',
  'SENT',
  'STUCK',
  'CONFIRMED',
  'COMPLETE',
  'FAILED',
  'DENIED',
  'CANCELLED',
] as const

export type State = (typeof states)[number]

/** The states from which each state may be entered, and the cause. */
const entries: Record<State, readonly State[]> = {
  INITIATED: [],
  // Screening cleared it, or an operator did.
  CLEARED: ['INITIATED'],
  // It has a nonce and durable signed bytes; or a foreign transaction used that nonce, and it waits for another one.
  QUEUED: ['CLEARED', 'SENT', 'STUCK'],
  // A node accepted it, or its block was orphaned.
  SENT: ['QUEUED', 'STUCK', 'CONFIRMED', 'COMPLETE', 'FAILED', 'CANCELLED'],
  // It offers less than the base fee.
  STUCK: ['SENT'],
  // A block contains it; the indexer may report that before the node answers the broadcast.
  CONFIRMED: ['QUEUED', 'SENT', 'STUCK', 'FAILED'],
  // That block has its confirmations.
  COMPLETE: ['CONFIRMED'],
  FAILED: ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK', 'CONFIRMED', 'COMPLETE'],
  // Screening denied it before anything was signed; lists may change while it waits for its signature.
  DENIED: ['INITIATED', 'CLEARED', 'QUEUED'],
  // Nothing was signed yet, or a cancel transaction or a foreign one used its nonce.
  CANCELLED: ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK'],
}

/** The states from which `to` may be entered, for the `where` of an update. */
export const statesBefore = (to: State): readonly State[] => entries[to]

export const mayEnter = (from: State, to: State): boolean => entries[to].includes(from)
