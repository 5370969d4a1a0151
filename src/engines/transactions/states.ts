/** A transaction's states and the arrows between them; nothing else may change a state. */
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

/** From which states each state may be entered, and why. */
const entries: Record<State, readonly State[]> = {
  INITIATED: [],
  // Nothing speaks against it.
  CLEARED: ['INITIATED'],
  // It has a nonce, and its signed bytes are durable; or somebody outside used that nonce, and it waits for another.
  QUEUED: ['INITIATED', 'CLEARED', 'SENT', 'STUCK'],
  // A node took it, or its block was orphaned.
  SENT: ['QUEUED', 'STUCK', 'CONFIRMED', 'COMPLETE', 'FAILED', 'CANCELLED'],
  // It offers less than the blocks ask for.
  STUCK: ['SENT'],
  // A block holds it; the notice may come before the answer of the node that took it.
  CONFIRMED: ['QUEUED', 'SENT', 'STUCK', 'FAILED'],
  // That block is final.
  COMPLETE: ['CONFIRMED'],
  FAILED: ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK', 'CONFIRMED', 'COMPLETE'],
  DENIED: ['INITIATED'],
  // Nothing was signed yet, or a block holds what took its nonce instead.
  CANCELLED: ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK'],
}

/** For the `where` of an update: the states from which `to` may be entered. */
export const statesBefore = (to: State): readonly State[] => entries[to]

export const mayEnter = (from: State, to: State): boolean => entries[to].includes(from)
