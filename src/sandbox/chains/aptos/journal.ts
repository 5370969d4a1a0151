/**
 * File format of `ledger.jsonl`: one JSON entry per line, in order, to be executed again at the next start. A transaction is
 * in it before its answer, a block before it is seen. An incomplete last line was never acknowledged and is cut off.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

export type LedgerEntry =
  /** First line. */
  | { kind: 'head'; chainId: number }
  /** A transaction that the pool accepted; `atMs` is the clock of the node. */
  | { kind: 'submit'; atMs: number; bcs: string }
  | { kind: 'drop'; hashes: string[] }
  | { kind: 'block'; timestampUs: string; hashes: string[]; hash: string }
  | { kind: 'prune'; version: number }

export type LedgerJournal = {
  /** The entries that the file had when it was opened. */
  entries(): LedgerEntry[]
  append(entry: LedgerEntry): void
  close(): void
}

/** A journal of a ledger that ends with its process. */
export const memoryJournal = (): LedgerJournal => ({ entries: () => [], append: () => {}, close: () => {} })

/** Opens the journal in a directory; throws where it is of another chain. */
export function openLedgerJournal(directory: string, chainId: number): LedgerJournal {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'ledger.jsonl')
  const isNew = !existsSync(path)
  const bytes = isNew ? Buffer.alloc(0) : readFileSync(path)
  let sizeBytes = bytes.lastIndexOf(10) + 1
  const lines = bytes.toString('utf8', 0, sizeBytes).split('\n').slice(0, -1)
  const entries = lines.map((line) => JSON.parse(line) as LedgerEntry)
  const file = openSync(path, isNew ? 'w' : 'r+', 0o600)
  ftruncateSync(file, sizeBytes)
  let isOpen = true
  const append = (entry: LedgerEntry) => {
    if (!isOpen) throw new Error('The journal of this simulated ledger is closed')
    const line = Buffer.from(`${JSON.stringify(entry)}\n`)
    for (let done = 0; done < line.length; )
      done += writeSync(file, line, done, line.length - done, sizeBytes + done)
    sizeBytes += line.length
  }
  const [head] = entries
  if (!head) {
    append({ kind: 'head', chainId })
    fsyncSync(file)
  } else if (head.kind !== 'head' || head.chainId !== chainId) {
    closeSync(file)
    throw new Error(
      `${path} is no journal of the chain ${chainId}: open it with its own chain id, or remove it`,
    )
  }
  const close = () => {
    if (!isOpen) return
    fsyncSync(file)
    closeSync(file)
    isOpen = false
  }
  return { entries: () => entries, append, close }
}
