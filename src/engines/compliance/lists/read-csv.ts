import { csvRecords } from '#lib/csv'
import type { FileEntry } from './formats.ts'
import { ListProblem } from './list-problem.ts'

const recordsOf = (chunks: AsyncIterable<string>) =>
  csvRecords(chunks, (reason) => new ListProblem(reason), {
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
  })

const sdnColumns = 12
const currencies = /Digital Currency Address - (\S+) ([^\s;]+?)(?=[.;\s]|$)/g
/** The character that ends published files. */
const endOfFile = '\u001a'

/** The digital currency addresses of a list of Specially Designated Nationals in its CSV form: a part of the remarks. */
export async function* readSdnCsv(chunks: AsyncIterable<string>): AsyncIterable<FileEntry> {
  for await (const { record, info } of recordsOf(chunks)) {
    if (record.length === 1 && record[0] === endOfFile) continue
    if (record.length !== sdnColumns)
      throw new ListProblem(`has ${record.length} columns instead of ${sdnColumns}`, info.lines)
    for (const [, code, text] of record.at(-1)!.matchAll(currencies))
      yield { code: code!, text: text!, reference: record[0]!.trim(), line: info.lines }
  }
}

/** A table with the columns `chain`, `address` and, if present, `reference`; others are ignored. */
export async function* readTable(chunks: AsyncIterable<string>): AsyncIterable<FileEntry> {
  let columns: { chain: number; address: number; reference: number } | undefined
  for await (const { record, info } of recordsOf(chunks)) {
    const cell = (index: number) => record[index]?.trim() ?? ''
    if (columns) {
      const reference = cell(columns.reference) || undefined
      yield { code: cell(columns.chain), text: cell(columns.address), reference, line: info.lines }
      continue
    }
    const named = (name: string) => record.findIndex((title) => title.trim().toLowerCase() === name)
    columns = { chain: named('chain'), address: named('address'), reference: named('reference') }
    if (columns.chain < 0 || columns.address < 0)
      throw new ListProblem('must name the columns chain and address', info.lines)
  }
}
