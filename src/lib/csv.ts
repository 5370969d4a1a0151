/** Files of comma-separated values (RFC 4180): their records, and fields that no spreadsheet takes for a formula. */
import { Readable } from 'node:stream'
import { type CsvError, type Info, type Options, parse } from 'csv-parse'

export type CsvRecord = { record: string[]; info: Info }

const recordCharactersMax = 100_000

/** Reads records as a stream. `problem` makes the error of a file that is not CSV. */
export async function* csvRecords(
  chunks: AsyncIterable<string> | Iterable<string>,
  problem: (reason: string) => Error,
  options: Pick<Options, 'delimiter' | 'skip_empty_lines' | 'skip_records_with_empty_values'> = {},
): AsyncIterable<CsvRecord> {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    max_record_size: recordCharactersMax,
    ...options,
  })
  const source = Readable.from(chunks)
  source.on('error', (error) => parser.destroy(error))
  try {
    yield* source.pipe(parser) as AsyncIterable<CsvRecord>
  } catch (error) {
    const { code, message } = error as CsvError
    throw code?.startsWith('CSV_') ? problem(`is not CSV: ${message}`) : error
  }
}

/**
 * A record as a line. A spreadsheet would take some beginnings of a text for a formula: an apostrophe keeps it a text. It stands within a
 * text too, where a spreadsheet that separates fields otherwise begins a new one.
 */
export const csvLine = (fields: readonly string[]): string => `${fields.map(csvField).join(',')}\r\n`

function csvField(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text)
  const plain = isNumber ? text : text.replaceAll(/^(?=[=+\-@\t\r])|(?<=[;\t\r\n])(?=[=+\-@])/g, "'")
  return /[",;\t\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
