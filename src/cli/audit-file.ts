import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { SignedHead, TrailItem } from '#engines/audit/index'
import { UsageError } from './command.ts'
import { openNewFile } from './new-file.ts'
import { counted } from './table.ts'

/** The first line of an exported file. */
type FileStart = {
  format: typeof format
  contents: 'trail' | 'heads'
  publicKey: string
  formerKeys?: { publicKey: string; isRetired: boolean }[]
  exportDate: string
}
/** The last line: a file without it was cut off. */
type FileEnd = { end: number }

const format = 'bezant audit 1'
/** Bytes that are written at once. */
const chunkSize = 256 * 1024

/** Writes items to a new file, one line of JSON each, synced to disk. Throws when the file exists. */
export async function writeAuditFile(
  path: string,
  start: Omit<FileStart, 'format'>,
  items: AsyncIterable<TrailItem | SignedHead>,
  progress: (count: number) => void,
): Promise<number> {
  const file = await openNewFile(path, 'name a new file, and keep the old one to verify with')
  try {
    let text = lineOf({ format, ...start })
    let count = 0
    for await (const item of items) {
      text += lineOf(item)
      if (++count % 1_000 === 0) progress(count)
      if (text.length < chunkSize) continue
      await file.write(text)
      text = ''
    }
    await file.write(text + lineOf({ end: count }))
    await file.sync()
    return count
  } finally {
    await file.close()
  }
}

const lineOf = (value: object) => `${JSON.stringify(value)}\n`

/** Reads an exported file as a stream. Throws when it is no such file, or was cut off. */
export async function openAuditFile(path: string): Promise<{
  start: FileStart
  items: AsyncGenerator<TrailItem | SignedHead>
}> {
  const lines = linesOf(path)
  const first = await lines.next()
  const start: Partial<FileStart> = first.done ? {} : first.value
  if (start.format !== format || !/^[0-9a-f]{64}$/.test(start.publicKey ?? ''))
    throw new UsageError(`${path} is not a file that bezant audit export wrote`)
  return { start: start as FileStart, items: itemsOf(path, lines) }
}

async function* itemsOf(path: string, lines: AsyncGenerator<object>): AsyncGenerator<TrailItem | SignedHead> {
  let count = 0
  for await (const line of lines) {
    if ('end' in line) {
      if ((line as FileEnd).end === count) return
      throw new UsageError(
        `${path} has ${counted(count, 'item')}, and its last line names ${(line as FileEnd).end}`,
      )
    }
    count++
    yield line as TrailItem | SignedHead
  }
  throw new UsageError(`${path} ends after ${counted(count, 'item')} without its last line: it was cut off`)
}

async function* linesOf(path: string): AsyncGenerator<object> {
  const input = createReadStream(path, 'utf8')
  let number = 0
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++
      yield JSON.parse(text)
    }
  } catch (error) {
    const reason = error instanceof SyntaxError ? `line ${number} is no JSON` : (error as Error).message
    throw new UsageError(`${path} cannot be read: ${reason}`)
  } finally {
    input.destroy()
  }
}

/** The newest head of each entity in an exported file of either kind. */
export async function readHeads(path: string): Promise<Map<string, SignedHead>> {
  const { items } = await openAuditFile(path)
  const heads = new Map<string, SignedHead>()
  for await (const item of items) {
    const head = 'link' in item ? item.head : item
    if (head) heads.set(head.entityId, head)
  }
  return heads
}
