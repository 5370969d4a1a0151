/**
 * The file of an exported snapshot: gzip of a head, of each file with its path and size, and of a checksum over all of that. One line
 * of JSON precedes the bytes of each file. A file whose end is missing, or of which a byte differs, is refused whole.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { ApiError } from '#lib/errors'
import { makeDirectory } from '#runtime/make-directory'
import type { Manifest } from './shelf.ts'

type PackLine = { snapshot: Manifest } | { path: string; bytes: number } | { sha256: string }

/** The files that a snapshot consists of. Any other path is refused, so that an import writes nowhere else. */
const packedPath =
  /^(root\.key|chains\/[A-Z0-9-]+\/(genesis\.json|state-\d+\.json|journal-\d+\.jsonl)|beside\/journals\/[0-9a-f]{16}\/(\d{16}\.journal|seen\.json)|beside\/guesses\/[0-9a-f-]+\.[0-9a-f-]+\.\w+|(parts|database)\/[a-z0-9_-]+\.jsonl)$/

/** The most bytes that a packed snapshot may unfold to. */
const unpackedBytesMax = 4 * 1024 ** 3

async function* filesIn(directory: string, below = ''): AsyncGenerator<string> {
  for (const entry of await readdir(join(directory, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) yield* filesIn(directory, path)
    else if (packedPath.test(path)) yield path
  }
}

/** Packs the files of these directories; `onEnd` runs when the stream has ended, or broke off. */
export function packSnapshot(
  manifest: Manifest,
  directories: readonly string[],
  onEnd: () => Promise<void>,
): Readable {
  const hash = createHash('sha256')
  const hashed = (bytes: Buffer) => {
    hash.update(bytes)
    return bytes
  }
  const lineOf = (line: PackLine) => Buffer.from(`${JSON.stringify(line)}\n`)
  async function* pieces() {
    try {
      yield hashed(lineOf({ snapshot: manifest }))
      for (const directory of directories)
        for await (const path of filesIn(directory)) {
          const file = join(directory, path)
          yield hashed(lineOf({ path, bytes: (await stat(file)).size }))
          for await (const piece of createReadStream(file)) yield hashed(piece as Buffer)
        }
      yield lineOf({ sha256: hash.digest('hex') })
    } finally {
      await onEnd()
    }
  }
  const zipped = createGzip()
  const source = Readable.from(pieces(), { objectMode: false })
  source.on('error', (error) => zipped.destroy(error))
  zipped.on('close', () => source.destroy())
  return source.pipe(zipped)
}

/** Unpacks into a directory, and returns the manifest; `admit` throws for a snapshot that is not wanted, before any file is written. */
export async function unpackSnapshot(
  bytes: Buffer,
  directory: string,
  admit: (manifest: Manifest) => Promise<void>,
): Promise<Manifest> {
  const unzipped = createGunzip()
  unzipped.end(bytes)
  const reader = readerOf(unzipped)
  const first = await reader.line()
  if (!('snapshot' in first)) throw damaged('it does not begin as a snapshot does')
  await admit(first.snapshot)
  for (;;) {
    const sumBefore = reader.sum()
    const line = await reader.line()
    if ('sha256' in line) {
      if (line.sha256 !== sumBefore) throw damaged('its checksum differs')
      return first.snapshot
    }
    if (!('path' in line) || !packedPath.test(line.path))
      throw damaged('it names a file that no snapshot has')
    const path = join(directory, line.path)
    await makeDirectory(join(path, '..'))
    const file = await open(path, 'wx', 0o600)
    try {
      for await (const piece of reader.bytes(line.bytes)) await file.write(piece)
    } finally {
      await file.close()
    }
  }
}

/** The error of a file that is no whole snapshot. */
export const damaged = (reason: string) =>
  new ApiError('snapshotDamaged', `The file is no whole snapshot (${reason}): export it again.`)

const lineBytesMax = 1_048_576

/** Reads lines of JSON and runs of bytes in turn, and sums up all that it has read. */
function readerOf(stream: Readable) {
  const pieces = stream[Symbol.asyncIterator]()
  const hash = createHash('sha256')
  let rest: Buffer = Buffer.alloc(0)
  let readBytes = 0
  const more = async () => {
    const next = await pieces.next().catch((error: Error) => {
      throw damaged(error.message)
    })
    if (next.done) throw damaged('its end is missing')
    readBytes += (next.value as Buffer).length
    if (readBytes > unpackedBytesMax) throw damaged(`it has over ${unpackedBytesMax} bytes`)
    return next.value as Buffer
  }
  const take = (length: number) => {
    const taken = rest.subarray(0, length)
    rest = rest.subarray(length)
    hash.update(taken)
    return taken
  }
  return {
    sum: () => hash.copy().digest('hex'),
    line: async (): Promise<PackLine> => {
      while (!rest.includes(10)) {
        if (rest.length > lineBytesMax) throw damaged('a line is too long')
        rest = Buffer.concat([rest, await more()])
      }
      const text = take(rest.indexOf(10) + 1).toString()
      try {
        return JSON.parse(text) as PackLine
      } catch {
        throw damaged('a line is not readable')
      }
    },
    bytes: async function* (count: number) {
      for (let left = count; left > 0; ) {
        if (rest.length === 0) rest = await more()
        const piece = take(Math.min(left, rest.length))
        left -= piece.length
        yield piece
      }
    },
  }
}
