/**
 * Reads a file of payouts as spreadsheets write it: with a byte order mark, any ends of lines, commas, semicolons or tabs, and
 * quotes. Its first row names the columns.
 */
import { type CsvRecord, csvRecords } from '#lib/csv'
import { type ApiError, invalid } from '#lib/errors'

const payoutColumns = ['recipient', 'address', 'chain', 'amount', 'currency', 'reference'] as const
export type PayoutColumn = (typeof payoutColumns)[number]

/** The texts of one row, without spaces around them; `number` counts as a spreadsheet does. */
export type FileRow = { number: number; cells: Readonly<Record<PayoutColumn, string>> }

type FileOfRows = { rows: FileRow[]; notices: string[] }

const rowsMax = 5_000
const cellCharactersMax = 256
const columnsMax = 50
/** Characters that are parsed before other requests have a turn. */
const chunkCharacters = 16_384

/** Returns the rows; throws `payoutFileInvalid` for a text that is no such file. */
export async function readPayoutFile(text: string): Promise<FileOfRows> {
  if (text.includes('\uFFFD')) throw unusable('is not UTF-8: save it as CSV UTF-8, and upload that')
  const delimiter = delimiterOf(text)
  const records = csvRecords(
    chunksOf(text),
    (reason) => unusable(`${reason.replace(/\.$/, '')}: correct it`),
    {
      delimiter,
    },
  )
  let places: Map<PayoutColumn, number> | undefined
  const rows: FileRow[] = []
  const notices: string[] = []
  let number = 0
  for await (const { record } of records as AsyncIterable<CsvRecord>) {
    number += 1
    const texts = record.map(trimmed)
    if (texts.every((cell) => cell === '')) continue
    if (!places) {
      places = placesOf(texts, number, notices)
      continue
    }
    if (rows.length === rowsMax)
      throw unusable(`has more than ${rowsMax} rows: upload it in parts, each as a batch of its own`)
    rows.push({ number, cells: cellsOf(texts, places, number) })
  }
  if (!places) throw unusable('is empty: its first row has to name the columns')
  if (rows.length === 0) throw unusable('has no row below the names of its columns')
  return { rows, notices }
}

const unusable = (reason: string): ApiError =>
  invalid({ at: 'csv', reason, kind: 'payoutFileInvalid', error: 'invalid_value' })

/** Takes away spaces of any kind, those that do not break included. */
const trimmed = (cell: string) => cell.trim()

function* chunksOf(text: string): Iterable<string> {
  for (let at = 0; at < text.length; at += chunkCharacters) yield text.slice(at, at + chunkCharacters)
}

/** The separator that the first row has most often outside quotes. */
function delimiterOf(text: string): string {
  const [first = ''] = text.replace(/^\uFEFF/, '').match(/^\s*[^\r\n]*/) ?? []
  const bare = first.replaceAll(/"[^"]*"/g, '')
  const counted = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: bare.split(delimiter).length }))
  return counted.sort((one, other) => other.count - one.count)[0]!.delimiter
}

/** Recipient ID, recipient_id and recipientId are one name. */
const plain = (title: string) => title.toLowerCase().replaceAll(/[\s_-]/g, '')

const otherTitles: Readonly<Record<string, PayoutColumn>> = { recipientid: 'recipient' }

function placesOf(titles: readonly string[], row: number, notices: string[]): Map<PayoutColumn, number> {
  if (titles.length > columnsMax) throw unusable(`has more than ${columnsMax} columns`)
  const places = new Map<PayoutColumn, number>()
  const ignored: string[] = []
  for (const [place, title] of titles.entries()) {
    const name = otherTitles[plain(title)] ?? payoutColumns.find((column) => column === plain(title))
    if (name === undefined) {
      if (title !== '') ignored.push(shown(title))
      continue
    }
    if (places.has(name)) throw unusable(`names the column ${name} twice in row ${row}: keep one of them`)
    places.set(name, place)
  }
  const missing = (['amount', 'currency'] as const).filter((name) => !places.has(name))
  if (missing.length > 0)
    throw unusable(
      `does not name the column ${missing.join(' and ')} in row ${row}: the first row names columns among ${payoutColumns.join(', ')}`,
    )
  if (!places.has('recipient') && !(places.has('address') && places.has('chain')))
    throw unusable(
      `names nobody to pay: its first row needs the column recipient, with ids of the address book, or address and chain`,
    )
  if (ignored.length > 0) notices.push(`Columns without a meaning here are ignored: ${ignored.join(', ')}.`)
  return places
}

function cellsOf(
  texts: readonly string[],
  places: ReadonlyMap<PayoutColumn, number>,
  row: number,
): FileRow['cells'] {
  const cells = Object.fromEntries(
    payoutColumns.map((column) => [column, texts[places.get(column) ?? -1] ?? '']),
  ) as Record<PayoutColumn, string>
  for (const column of payoutColumns)
    if (cells[column].length > cellCharactersMax)
      throw unusable(
        `has more than ${cellCharactersMax} characters in the column ${column} of row ${row}: shorten it`,
      )
  return cells
}

/** A text of the file as messages show it. */
export const shown = (text: string): string => `"${text.length > 60 ? `${text.slice(0, 59)}…` : text}"`
