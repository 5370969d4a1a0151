/** Files of one JSON entry per line, which are appended to. An incomplete last line was never acknowledged and is cut off. */
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

export type JsonLines<Entry> = {
  /** Appends an entry; the operating system has it when this returns. */
  append(entry: Entry): void
  sizeBytes(): number
  /** Returns once all entries are on disk. */
  sync(): void
  close(): void
}

/** Returns the complete entries of a file. */
export const readJsonLines = <Entry>(path: string): Entry[] => parse(completeLines(readFileSync(path)))

/** Creates an empty file, in place of one of that name. */
export const createJsonLines = <Entry>(path: string): JsonLines<Entry> =>
  linesOn(openSync(path, 'w', 0o600), 0)

/** Opens a file for appending, and returns its entries; undefined of a missing file. */
export function openJsonLines<Entry>(
  path: string,
): { lines: JsonLines<Entry>; entries: Entry[] } | undefined {
  if (!existsSync(path)) return undefined
  const complete = completeLines(readFileSync(path))
  const file = openSync(path, 'r+')
  ftruncateSync(file, complete.length)
  return { lines: linesOn(file, complete.length), entries: parse(complete) }
}

const completeLines = (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf(10) + 1)

function parse<Entry>(bytes: Buffer): Entry[] {
  const entries: Entry[] = []
  let start = 0
  for (let end = bytes.indexOf(10, start); end !== -1; end = bytes.indexOf(10, start)) {
    try {
      entries.push(JSON.parse(bytes.toString('utf8', start, end)) as Entry)
    } catch {
      // A line broken by a lost write in the middle of the file: the later entries are still useful.
    }
    start = end + 1
  }
  return entries
}

function linesOn<Entry>(file: number, startBytes: number): JsonLines<Entry> {
  let sizeBytes = startBytes
  let isOpen = true
  return {
    append: (entry) => {
      if (!isOpen) throw new Error('The journal of this local chain is closed')
      const line = Buffer.from(`${JSON.stringify(entry)}\n`)
      for (let done = 0; done < line.length; )
        done += writeSync(file, line, done, line.length - done, sizeBytes + done)
      sizeBytes += line.length
    },
    sizeBytes: () => sizeBytes,
    sync: () => {
      if (isOpen) fsyncSync(file)
    },
    close: () => {
      if (isOpen) closeSync(file)
      isOpen = false
    },
  }
}
