/**
 * The journal of one worker: every signed transaction is on disk before its first byte is sent to a node. It is separate from
 * the database, so that sent transactions stay known when an older copy of the database is restored. Appends made while the
 * disk is busy share the next fsync.
 */
import type { Hex } from '#lib/hex'
import type { AttemptCopy } from '../store/journal-copies.ts'
import type { JournalDirectory } from './directory.ts'
import type { Head } from './frames.ts'
import { openSegments, type Segments } from './segments.ts'

/** One signed transaction in the journal: database rows as JSON texts, to be restored unchanged. */
export type JournalRecord = AttemptCopy & {
  /** The payloads that the signing ledger has for this nonce. */
  payloads: string
  /** The rows that its acceptance wrote: see `acceptance.ts`. */
  accepted: string
}

export type Journal = {
  id: string
  path: string
  head(): Head
  /** Number of fsyncs. */
  syncs(): number
  /** Resolves when an fsync covers the records. */
  append(records: readonly JournalRecord[]): Promise<void>
  /** Resolves when pending appends are on disk; releases the directory. */
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
export const decodeRecords = (payload: Buffer) =>
  (JSON.parse(payload.toString()) as JournalRecord[]).map(withPresentNames)

/** Renames the no-ops in records of earlier versions, which called them fillers. Numbers in the copies keep every digit. */
const withPresentNames = (record: JournalRecord): JournalRecord => ({
  ...record,
  kind: record.kind === 'filler' ? 'noop' : record.kind,
  attempt: record.attempt.replace('"kind":"filler"', '"kind":"noop"'),
  payloads: record.payloads.replaceAll('"filler":', '"noop":'),
})
