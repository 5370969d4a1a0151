/**
 * The journal of one worker: every signed transaction is on its disk before the first byte of it leaves for a node. It is
 * apart from the database, so that what was sent is known even when an older copy of the database is restored.
 * Whoever appends while the disk is busy shares the next fsync.
 */
import type { Hex } from '#lib/hex'
import type { AttemptCopy } from '../store/journaled.ts'
import type { JournalDirectory } from './directory.ts'
import type { Head } from './frames.ts'
import { openSegments, type Segments } from './segments.ts'

/** One signed transaction as the journal keeps it: rows of the database as JSON texts, to be put back as they were. */
export type JournalRecord = AttemptCopy & {
  /** The line of the signing ledger for this nonce. */
  payloads: string
  /** What its acceptance left: see `accepted.ts`. */
  accepted: string
}

export type Journal = {
  id: string
  path: string
  head(): Head
  /** How often the disk was waited for. */
  syncs(): number
  /** Resolves when an fsync covers them. */
  append(records: readonly JournalRecord[]): Promise<void>
  /** Ends when what is under way is on the disk; gives the directory back. */
  close(): Promise<void>
}

export async function openJournal(directory: JournalDirectory): Promise<Journal> {
  const segments = await openSegments(directory.path, directory.id)
  const { append, settle } = groupCommit(segments)
  return {
    id: directory.id,
    path: directory.path,
    head: segments.head,
    syncs: segments.syncs,
    append,
    close: async () => {
      await settle()
      await segments.close()
      await directory.release()
    },
  }
}

type Waiter = {
  records: readonly JournalRecord[]
  resolve: () => void
  reject: (error: unknown) => void
}

function groupCommit(segments: Segments) {
  let waiting: Waiter[] = []
  let flushing: Promise<void> | undefined
  const flush = async () => {
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      const records = group.flatMap((waiter) => waiter.records)
      try {
        await segments.write(records.length, encodeRecords(records))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    flushing = undefined
  }
  return {
    append: (records: readonly JournalRecord[]) =>
      new Promise<void>((resolve, reject) => {
        if (records.length === 0) return resolve()
        waiting.push({ records, resolve, reject })
        flushing ??= flush()
      }),
    settle: async () => {
      while (flushing) await flushing
    },
  }
}

/** The signed bytes of a record, as they are sent: `0x` and hexadecimal digits. */
export const bytesIn = ({ attempt }: JournalRecord): Hex =>
  `0x${(JSON.parse(attempt) as { raw_transaction: string }).raw_transaction.slice(2)}`

const encodeRecords = (records: readonly JournalRecord[]) => Buffer.from(JSON.stringify(records))
export const decodeRecords = (payload: Buffer) => JSON.parse(payload.toString()) as JournalRecord[]
