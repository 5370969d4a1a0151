/**
 * Journal of a ledger that this process keeps: `ledger.jsonl`, one JSON entry per line, in order, to be executed again at the next
 * start. A transaction is in it before its answer, a block before it is seen.
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createJsonLines, openJsonLines } from './json-lines.ts'

/** The moments of blocks: after each transaction and when one that waits has expired, on a timer also of nothing, or by `mine` alone. */
export type BlockMode = 'each_transaction' | 'by_hand' | { everyMs: number }

/** The lead of the time of blocks over the clock of the node; or the instant at which it stands still, since 1970. */
export type LedgerTime = { aheadMs: number } | { heldMs: number }

/** Entries of every ledger: the first line, which names the chain, and the settings that outlive a restart. */
export type CommonEntry =
  | { kind: 'head'; chainId: number }
  | { kind: 'blocks'; mode: BlockMode }
  | { kind: 'time'; time: LedgerTime }

/** Settings of a ledger that outlive a restart. */
export type LedgerSettings = {
  /** The mode of blocks that was set, if one was. */
  blockMode: BlockMode | undefined
  time: LedgerTime
}

type SettledLedger = LedgerSettings & { journal: { append(entry: CommonEntry): void } }

export function setBlockMode(ledger: SettledLedger, mode: BlockMode): void {
  ledger.journal.append({ kind: 'blocks', mode })
  ledger.blockMode = mode
}

export function setLedgerTime(ledger: SettledLedger, time: LedgerTime): void {
  ledger.journal.append({ kind: 'time', time })
  ledger.time = time
}

export type LedgerJournal<Entry> = {
  /** Returns the entries that the file had when it was opened, once. */
  takeEntries(): Entry[]
  append(entry: Entry): void
  /** Copies the file as it is now to another directory. */
  copyTo(directory: string): void
  close(): void
}

/** A journal of a ledger that ends with its process. */
export const memoryJournal = <Entry>(): LedgerJournal<Entry> => ({
  takeEntries: () => [],
  append: () => {},
  copyTo: () => {
    throw new Error('a ledger that ends with its process keeps no files to copy')
  },
  close: () => {},
})

const fileIn = (directory: string) => join(directory, 'ledger.jsonl')

/** Opens the journal in a directory; throws where it is of another chain. */
export function openLedgerJournal<Entry extends { kind: string }>(
  directory: string,
  chainId: number,
): LedgerJournal<Entry | CommonEntry> {
  mkdirSync(directory, { recursive: true })
  const path = fileIn(directory)
  const found = openJsonLines<Entry | CommonEntry>(path)
  const head = found?.entries[0] as CommonEntry | undefined
  if (head && (head.kind !== 'head' || head.chainId !== chainId)) {
    found!.lines.close()
    throw new Error(
      `${path} is no journal of the chain ${chainId}: open it with its own chain id, or remove it`,
    )
  }
  const lines = found?.lines ?? createJsonLines<Entry | CommonEntry>(path)
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
