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
import { parseInstant } from '#lib/time'
import { makeDirectory } from '#runtime/make-directory'
import { type Manifest, snapshotFormat } from './shelf.ts'

type PackLine = { snapshot?: unknown; path?: unknown; bytes?: unknown; sha256?: unknown }

/** The files that a snapshot consists of. Any other path is refused, so that an import writes nowhere else. */
const packedPath =
  /^(root\.key|chains\/[A-Z0-9-]+\/(genesis\.json|state-\d+\.json|journal-\d+\.jsonl|ledger\.jsonl)|beside\/journals\/[0-9a-f]{16}\/(\d{16}\.journal|seen\.json)|beside\/guesses\/[0-9a-f-]+\.[0-9a-f-]+\.\w+|(parts|database)\/[a-z0-9_-]+\.jsonl)$/

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
  const manifest = manifestIn(await reader.line())
  await admit(manifest)
  const written = new Set<string>()
  for (;;) {
    const sumBefore = reader.sum()
    const { path, bytes: count, sha256 } = await reader.line()
    if (sha256 !== undefined) {
      if (sha256 !== sumBefore) throw damaged('its checksum differs')
      return manifest
    }
    if (typeof path !== 'string' || !packedPath.test(path))
      throw damaged('it names a file that no snapshot has')
    if (written.has(path)) throw damaged('it has a file twice')
    if (!isCount(count)) throw damaged('it has a file without a size')
    written.add(path)
    await makeDirectory(join(directory, path, '..'))
    const file = await open(join(directory, path), 'wx', 0o600)
    try {
      for await (const piece of reader.bytes(count)) await file.write(piece)
    } finally {
      await file.close()
    }
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** The manifest that a packed snapshot begins with. One of another format may have other members, and is refused for that. */
function manifestIn({ snapshot }: PackLine): Manifest {
  if (typeof snapshot !== 'object' || snapshot === null) throw damaged('it does not begin as a snapshot does')
  const { format, id, name, sequence, savedDate, version, tables, chains, bytes } = snapshot as Manifest
  const isWhole =
    parseInstant(String(savedDate)) !== undefined && Array.isArray(chains) && chains.every(isHead)
  if (format === snapshotFormat && !isWhole) throw damaged('its head is not that of a snapshot')
  return { format, id, name, sequence, savedDate, version, tables, chains, bytes }
}

const isHead = (head: Partial<Manifest['chains'][number]> | null): boolean =>
  typeof head?.blockchain === 'string' && isCount(head.number) && typeof head.hash === 'string'

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
      const line = lineIn(take(rest.indexOf(10) + 1).toString())
      if (!line) throw damaged('a line is not readable')
      return line
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

function lineIn(text: string): PackLine | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
