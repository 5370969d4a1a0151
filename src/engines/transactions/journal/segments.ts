import { open, readdir, readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { AlarmName } from '#runtime/log/alarms'
import { syncDirectory } from '#runtime/make-directory'
import { encodeFrame, firstHeadOf, type Head, readSegment } from './frames.ts'

/** A journal that cannot be trusted or used; `alarm` is its name in logs. */
export class JournalError extends Error {
  readonly alarm: Extract<AlarmName, `journal-${string}`>

  constructor(alarm: JournalError['alarm'], message: string) {
    super(message)
    this.alarm = alarm
  }
}

/** The segments of one journal's directory: written by one process, which holds its lock. */
export type Segments = {
  head(): Head
  /** Number of fsyncs that made frames durable. */
  syncs(): number
  /** Resolves when the frame is on disk. When it rejects, the frame does not count and may be written again. */
  write(count: number, payload: Buffer): Promise<void>
  close(): Promise<void>
}

const segmentBytesMax = 64 * 2 ** 20
const nameOf = (first: number) => `${String(first).padStart(16, '0')}.journal`
const firstOf = (name: string) => Number(name.slice(0, 16))

async function namesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory)
  return names.filter((name) => /^\d{16}\.journal$/.test(name)).sort()
}

/** Opens the end of a journal for appending. A torn tail, which was never acknowledged, is cut off. */
export async function openSegments(directory: string, id: string): Promise<Segments> {
  const names = await namesIn(directory)
  const { name, head, sizeBytes } = await findEnd(directory, id, names)
  const path = join(directory, name)
  if (names.includes(name)) await truncate(path, sizeBytes)
  return writerOn(directory, path, head, sizeBytes)
}

async function findEnd(directory: string, id: string, names: readonly string[]) {
  const name = names.at(-1)
  if (name === undefined) return { name: nameOf(0), head: firstHeadOf(id), sizeBytes: 0 }
  const after = firstOf(name) === 0 ? firstHeadOf(id) : await endOf(directory, id, names.slice(0, -1))
  const { frames, endBytes, rest } = readSegment(await readFile(join(directory, name)), after)
  if (rest === 'damaged') throw damaged(join(directory, name), endBytes)
  const last = frames.at(-1)
  if (!last && firstOf(name) !== after.sequence) throw damaged(join(directory, name), 0)
  const head = last ? { sequence: last.first + last.count, hash: last.hash } : after
  return { name, head, sizeBytes: endBytes }
}

/** The end of segments that are complete. */
async function endOf(directory: string, id: string, names: readonly string[]): Promise<Head> {
  const name = names.at(-1)
  if (name === undefined) return firstHeadOf(id)
  const { frames, endBytes, rest } = readSegment(await readFile(join(directory, name)))
  const last = frames.at(-1)
  if (rest !== 'none' || !last) throw damaged(join(directory, name), endBytes)
  return { sequence: last.first + last.count, hash: last.hash }
}

const damaged = (path: string, atBytes: number) =>
  new JournalError(
    'journal-damaged',
    `the journal ${path} is damaged at byte ${atBytes}: restore this file from a copy, or check the chain for sent transactions and declare the journal lost`,
  )

/** The error of a journal whose files were removed while it was in use. */
export const journalGone = (path: string) =>
  new JournalError(
    'journal-gone',
    `the journal ${path} was removed while its worker ran: restore it from a copy if there is one, and restart the worker`,
  )

const isLinked = async (file: Awaited<ReturnType<typeof open>>) => (await file.stat()).nlink > 0

function writerOn(directory: string, firstPath: string, firstHead: Head, firstSizeBytes: number): Segments {
  let [path, head, sizeBytes] = [firstPath, firstHead, firstSizeBytes]
  let file: Awaited<ReturnType<typeof open>> | undefined
  let syncs = 0
  /** Some file systems count no links at all. */
  let linked = false
  /** Bytes of a failed write may follow the last durable frame. */
  let uncut = false
  const close = async () => {
    const closing = file
    file = undefined
    await closing?.close()
  }
  const turn = async () => {
    await close()
    path = join(directory, nameOf(head.sequence))
    sizeBytes = 0
  }
  const openFile = async () => {
    const opened = await open(path, 'a', 0o600)
    file = opened
    linked = await isLinked(opened)
    await syncDirectory(directory)
    return opened
  }
  return {
    head: () => head,
    syncs: () => syncs,
    write: async (count, payload) => {
      if (sizeBytes > segmentBytesMax) await turn()
      const out = file ?? (await openFile())
      // Writes to a deleted file still succeed.
      if (linked && !(await isLinked(out))) throw journalGone(path)
      if (uncut) {
        await out.truncate(sizeBytes)
        await out.datasync()
        uncut = false
      }
      const { frame, head: next } = encodeFrame(head, count, payload)
      uncut = true
      await out.appendFile(frame)
      await out.datasync()
      uncut = false
      syncs += 1
      head = next
      sizeBytes += frame.length
    },
    close,
  }
}

/**
 * Yields the records of a journal after the first `sequence` ones, frame by frame, with the head after each. Read-only. Older
 * segments may have been moved away.
 */
export async function* readFrom(directory: string, id: string, sequence: number) {
  const names = await namesIn(directory)
  const from = names.findLastIndex((name) => firstOf(name) <= sequence)
  if (from < 0 && names.length > 0) throw damaged(join(directory, nameOf(0)), 0)
  let last: Head | undefined = from === 0 && firstOf(names[0]!) === 0 ? firstHeadOf(id) : undefined
  for (const [index, name] of names.entries()) {
    if (index < from) continue
    const path = join(directory, name)
    const { frames, endBytes, rest } = readSegment(await readFile(path), last)
    const tornTail = rest === 'torn' && index === names.length - 1
    for (const frame of frames) {
      last = { sequence: frame.first + frame.count, hash: frame.hash }
      if (last.sequence > sequence) yield { head: last, payload: frame.payload }
    }
    if (rest !== 'none' && !tornTail) throw damaged(path, endBytes)
  }
}

/** The hash of the frame that ends with this record; `undefined` when no frame ends there. */
export async function hashAt(directory: string, id: string, sequence: number): Promise<Buffer | undefined> {
  if (sequence === 0) return firstHeadOf(id).hash
  for await (const { head } of readFrom(directory, id, sequence - 1))
    if (head.sequence >= sequence) return head.sequence === sequence ? head.hash : undefined
  return undefined
}
