/**
 * File format of `journal-<generation>.jsonl`: one JSON entry per line, appended in the order of sending, to be replayed
 * onto the state of the same generation; the journals of later generations continue it. An incomplete last line was never
 * acknowledged and is cut off.
 */
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
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
  const file = openSync(path, 'w', 0o600)
  const journal = journalOn(file, 0)
  for (const entry of entries) journal.append(entry)
  if (isDurable) fsyncSync(file)
  return journal
}

/** Returns the complete entries of a journal. */
export function readJournal(path: string): JournalEntry[] {
  return parseEntries(completeLines(readFileSync(path)))
}

/** Opens a journal for appending, and returns its entries. Creates a missing journal. */
export function openChainJournal(
  path: string,
  isDurable = true,
): { journal: ChainJournal; entries: JournalEntry[] } {
  const head: HeadEntry = { kind: 'head', offsetS: 0, settings: [] }
  if (!existsSync(path)) return { journal: createChainJournal(path, [head], isDurable), entries: [head] }
  const complete = completeLines(readFileSync(path))
  const sizeBytes = complete.length
  const entries = parseEntries(complete)
  const file = openSync(path, 'r+')
  ftruncateSync(file, sizeBytes)
  const journal = journalOn(file, sizeBytes)
  for (const entry of entries) journal.count(entry)
  return { journal, entries }
}

const completeLines = (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf(10) + 1)

function parseEntries(bytes: Buffer): JournalEntry[] {
  const entries: JournalEntry[] = []
  let start = 0
  for (let end = bytes.indexOf(10, start); end !== -1; end = bytes.indexOf(10, start)) {
    try {
      entries.push(JSON.parse(bytes.toString('utf8', start, end)) as JournalEntry)
    } catch {
      // A line broken by a lost write in the middle of the file: the later entries are still useful.
    }
    start = end + 1
  }
  return entries
}

function journalOn(file: number, startBytes: number): ChainJournal & { count(entry: JournalEntry): void } {
  let sizeBytes = startBytes
  let blocks = 0
  let changes = 0
  let isOpen = true
  const count = (entry: JournalEntry) => {
    if (entry.kind === 'block') blocks++
    else if (entry.kind === 'raw') changes += entry.txs.length
    else if (entry.kind !== 'head') changes++
  }
  return {
    append: (entry) => {
      if (!isOpen) throw new Error('The journal of this local chain is closed')
      const line = Buffer.from(`${JSON.stringify(entry)}\n`)
      for (let done = 0; done < line.length; ) {
        done += writeSync(file, line, done, line.length - done, sizeBytes + done)
      }
      sizeBytes += line.length
      count(entry)
    },
    sizeBytes: () => sizeBytes,
    blocks: () => blocks,
    changes: () => changes,
    close: () => {
      if (isOpen) closeSync(file)
      isOpen = false
    },
    count,
  }
}
