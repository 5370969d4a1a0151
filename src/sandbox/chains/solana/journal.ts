import type { CommonEntry } from '../ledger-journal.ts'

/** An entry of the journal: those of every ledger, and those of Solana. */
export type SolanaEntry =
  | CommonEntry
  /** A transaction that a node accepted, in base64. A retried one is tried in every block until its blockhash is too old. */
  | { kind: 'submit'; wire: string; isRetried: boolean }
  | { kind: 'drop'; signatures: string[] }
  | { kind: 'block'; slot: number; timeS: number; signatures: string[]; hash: string }
  /** The blocks after a slot are no part of the chain any more; the next one is in a slot after theirs. */
  | { kind: 'fork'; slot: number; nextSlot: number }
  | { kind: 'skip'; percent: number }
