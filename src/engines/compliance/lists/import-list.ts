import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { parseScreenedAddress, type ScreeningChain, screeningChains } from '#chains/screening-chains'
import type { Db } from '#runtime/db/db'
import { addStaged, endUnstaged, type NewEntry, openStaging, stageEntries } from '../store/entries.ts'
import type { ListVersion } from '../store/lists.ts'
import { changeList, type ListScope } from './change-list.ts'
import type { EntryParser, FileEntry, ListFormat } from './formats.ts'
import { ListProblem } from './list-problem.ts'
import { readSdnCsv, readTable } from './read-csv.ts'
import { readSdnXml } from './read-sdn-xml.ts'
import { parseSanctioned } from './sanctioned-currencies.ts'

const parseListed: EntryParser = (code, text) => {
  if (!(screeningChains as readonly string[]).includes(code)) return 'unknown'
  const parsed = parseScreenedAddress(code as ScreeningChain, text)
  return parsed ? [parsed] : 'malformed'
}

/** The formats of files, by name. */
export const listFormats = {
  'sdn-xml': { read: readSdnXml, parse: parseSanctioned },
  'sdn-csv': { read: readSdnCsv, parse: parseSanctioned },
  csv: { read: readTable, parse: parseListed },
} as const satisfies Record<string, ListFormat>

type ListImport = {
  list: string
  path: string
  format: keyof typeof listFormats
  /** Whether malformed addresses are counted instead of refusing the file. */
  skipsMalformed?: boolean
  reason?: string | undefined
}

/** The outcome of reading a file. */
type ImportCounts = {
  duplicates: number
  malformed: number
  /** Addresses of currencies without a chain of screening, by currency. */
  unsupported: Record<string, number>
}

const batchSize = 5_000
const entriesMax = 20_000_000

/** Replaces the entries of a list by those of a file, read as a stream. A file with any mistake changes nothing. */
export async function importList(scope: ListScope, file: ListImport): Promise<ListVersion & ImportCounts> {
  const counts: ImportCounts = { duplicates: 0, malformed: 0, unsupported: {} }
  const made = await changeList(
    scope,
    file.list,
    async (tx) => {
      const hash = createHash('sha256')
      await openStaging(tx)
      await stageFile(tx, file, counts, hash)
      const source = basename(file.path)
      return { change: 'import', source, sourceHash: hash.digest('hex'), reason: file.reason }
    },
    async (tx, version) => {
      const removed = await endUnstaged(tx, file.list, version)
      return { removed, added: await addStaged(tx, file.list, version) }
    },
  )
  return { ...made, ...counts }
}

async function stageFile(tx: Db, file: ListImport, counts: ImportCounts, hash: Hash): Promise<void> {
  const { read, parse } = listFormats[file.format]
  const batch: NewEntry[] = []
  let staged = 0
  const flush = async () => {
    const entries = batch.splice(0)
    const added = await stageEntries(tx, entries)
    counts.duplicates += entries.length - added
    staged += added
    if (staged > entriesMax) throw new ListProblem(`names more than ${entriesMax} addresses`)
  }
  for await (const entry of read(chunksOf(file.path, hash))) {
    const parsed = parse(entry.code, entry.text)
    const reference = entry.reference?.slice(0, 100)
    if (typeof parsed === 'string') count(counts, file, entry, parsed)
    else batch.push(...parsed.map((address) => ({ ...address, reference })))
    if (batch.length >= batchSize) await flush()
  }
  await flush()
  // A file of another format must not clear a list.
  if (staged === 0) throw new ListProblem(`names no address as ${file.format} does`)
}

function count(
  counts: ImportCounts,
  { skipsMalformed }: ListImport,
  { code, text, line }: FileEntry,
  problem: 'unsupported' | 'malformed' | 'unknown',
): void {
  const [shownCode, shownText] = [code.slice(0, 40), text.slice(0, 120)]
  if (problem === 'unsupported') counts.unsupported[code] = (counts.unsupported[code] ?? 0) + 1
  else if (problem === 'unknown') throw new ListProblem(`"${shownCode}" names no chain of screening`, line)
  else if (skipsMalformed) counts.malformed += 1
  else throw new ListProblem(`"${shownText}" is no address of ${shownCode}`, line)
}

async function* chunksOf(path: string, hash: Hash): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk)
      yield decoder.decode(chunk, { stream: true })
    }
    yield decoder.decode()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw new ListProblem('is not UTF-8')
    throw code ? new ListProblem(`cannot be read: ${message}`) : error
  }
}
