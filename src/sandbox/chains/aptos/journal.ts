/**
 * File format of `ledger.jsonl`: one JSON entry per line, in order, to be executed again at the next start. A transaction is
 * in it before its answer, a block before it is seen.
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createJsonLines, openJsonLines } from '../json-lines.ts'

/** The moments of blocks: after each transaction and when one that waits has expired, on a timer also of nothing, or by `mine` alone. */
export type BlockMode = 'each_transaction' | 'by_hand' | { everyMs: number }

/** The lead of the time of blocks over the clock of the node; or the instant at which it stands still, since 1970. */
export type LedgerTime = { aheadMs: number } | { heldMs: number }

export type LedgerEntry =
  /** First line. */
  | { kind: 'head'; chainId: number }
  /** A transaction that the pool accepted; `atMs` is the clock of the node. */
  | { kind: 'submit'; atMs: number; bcs: string }
  | { kind: 'drop'; hashes: string[] }
  | { kind: 'block'; timestampUs: string; hashes: string[]; hash: string }
  | { kind: 'prune'; version: number }
  | { kind: 'blocks'; mode: BlockMode }
  | { kind: 'time'; time: LedgerTime }

export type LedgerJournal = {
  /** Returns the entries that the file had when it was opened, once. */
  takeEntries(): LedgerEntry[]
  append(entry: LedgerEntry): void
  /** Copies the file as it is now to another directory. */
  copyTo(directory: string): void
  close(): void
}

/** A journal of a ledger that ends with its process. */
export const memoryJournal = (): LedgerJournal => ({
  takeEntries: () => [],
  append: () => {},
  copyTo: () => {
    throw new Error('a ledger that ends with its process keeps no files to copy')
  },
  close: () => {},
})

const fileIn = (directory: string) => join(directory, 'ledger.jsonl')

/** Opens the journal in a directory; throws where it is of another chain. */
export function openLedgerJournal(directory: string, chainId: number): LedgerJournal {
  mkdirSync(directory, { recursive: true })
  const path = fileIn(directory)
  const found = openJsonLines<LedgerEntry>(path)
  const [head] = found?.entries ?? []
  if (head && (head.kind !== 'head' || head.chainId !== chainId)) {
    found!.lines.close()
    throw new Error(
      `${path} is no journal of the chain ${chainId}: open it with its own chain id, or remove it`,
    )
  }
  const lines = found?.lines ?? createJsonLines<LedgerEntry>(path)
  if (!head) {
    lines.append({ kind: 'head', chainId })
    lines.sync()
  }
  return {
    takeEntries: () => found?.entries.splice(0) ?? [],
    append: lines.append,
    copyTo: (copy) => {
      mkdirSync(copy, { recursive: true })
      copyFileSync(path, fileIn(copy))
    },
    close: () => {
      lines.sync()
      lines.close()
    },
  }
}
