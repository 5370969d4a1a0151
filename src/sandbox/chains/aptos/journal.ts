import type { CommonEntry } from '../ledger-journal.ts'

/** An entry of the journal: those of every ledger, and those of Aptos. */
export type LedgerEntry =
  | CommonEntry
  /** A transaction that the pool accepted; `atMs` is the clock of the node. */
  | { kind: 'submit'; atMs: number; bcs: string }
  | { kind: 'drop'; hashes: string[] }
  | { kind: 'block'; timestampUs: string; hashes: string[]; hash: string }
  | { kind: 'prune'; version: number }
