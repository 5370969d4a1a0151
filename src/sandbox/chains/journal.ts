/**
 * File format of `journal-<generation>.jsonl`: one JSON entry per line, appended in the order of sending, to be replayed
 * onto the state of the same generation; the journals of later generations continue it.
 */
import { createJsonLines, type JsonLines, openJsonLines, readJsonLines } from './json-lines.ts'
import type { NodeCall } from './rpc.ts'

export type MiningMode = { automine: boolean; intervalS: number | null }

export type JournalEntry =
  /** First line: data missing in the state file. `offsetS` is the lead of the chain's clock over ours, in seconds. */
  | HeadEntry
  /** Signed transactions, written before the node received them; `atS` is our clock. */
  | { kind: 'raw'; atS: number; txs: string[] }
  /** Signed transactions that the node refused. */
  | { kind: 'refused'; txs: string[] }
  /** A complete transaction that the node signed, written before its hash was returned. */
  | { kind: 'sent'; atS: number; hash: string; tx: Record<string, unknown> }
  | { kind: 'admin'; method: string; params: readonly unknown[] }
  | ({ kind: 'mining' } & MiningMode)
  /** The configured gas limit from here on, in hex; a request's own is an `admin` entry. */
  | { kind: 'gasLimit'; gasLimit: string }
  /** A mined block, so that a replay of the journal produces the same one. */
  | {
      kind: 'block'
      number: number
      hash: string
      timestampS: number
      baseFee: string
      txs: string[]
      offsetS: number
    }

export type HeadEntry = {
  kind: 'head'
  /** The last block of the state; absent for genesis. */
  block?: { number: number; hash: string }
  offsetS: number
  nextBaseFee?: string
  settings: NodeCall[]
  mining?: MiningMode | undefined
}
export type BlockEntry = Extract<JournalEntry, { kind: 'block' }>

export type ChainJournal = {
  append(entry: JournalEntry): void
  sizeBytes(): number
  /** Number of blocks, and number of transactions and other requests, in the journal. */
  blocks(): number
  changes(): number
  close(): void
}

/** Creates a journal; the entries are on disk when this returns, where the chain is durable. */
export function createChainJournal(
  path: string,
  entries: readonly JournalEntry[],
  isDurable = true,
): ChainJournal {
  const lines = createJsonLines<JournalEntry>(path)
  const journal = journalOn(lines)
  for (const entry of entries) journal.append(entry)
  if (isDurable) lines.sync()
  return journal
}

/** Returns the complete entries of a journal. */
export const readJournal = (path: string): JournalEntry[] => readJsonLines(path)

/** Opens a journal for appending, and returns its entries. Creates a missing journal. */
export function openChainJournal(
  path: string,
  isDurable = true,
): { journal: ChainJournal; entries: JournalEntry[] } {
  const found = openJsonLines<JournalEntry>(path)
  if (found) return { journal: journalOn(found.lines, found.entries), entries: found.entries }
  const head: HeadEntry = { kind: 'head', offsetS: 0, settings: [] }
  return { journal: createChainJournal(path, [head], isDurable), entries: [head] }
}

function journalOn(lines: JsonLines<JournalEntry>, already: readonly JournalEntry[] = []): ChainJournal {
  let blocks = 0
  let changes = 0
  const count = (entry: JournalEntry) => {
    if (entry.kind === 'block') blocks++
    else if (entry.kind === 'raw') changes += entry.txs.length
    else if (entry.kind !== 'head') changes++
  }
  for (const entry of already) count(entry)
  return {
    append: (entry) => {
      lines.append(entry)
      count(entry)
    },
    sizeBytes: lines.sizeBytes,
    blocks: () => blocks,
    changes: () => changes,
    close: lines.close,
  }
}
