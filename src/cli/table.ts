import type { Option, ParsedArgs } from './command.ts'

/** The option of every command that prints with this module. */
export const jsonOption: Record<string, Option> = {
  json: {
    type: 'boolean',
    about: 'Print each result as one line of JSON instead of a table.',
  },
}

export type TableRow = Readonly<Record<string, unknown>>
/** A column that at least some rows have. */
type ColumnOf<Item> = Item extends TableRow ? keyof Item & string : never

/** Prints rows as a table of these columns, or with `--json` each row whole on a line of its own. */
export function printRows<Item extends TableRow>(
  args: ParsedArgs,
  rows: readonly Item[],
  columns: readonly ColumnOf<Item>[],
): void {
  const text =
    args.flags['json'] === true ? rows.map(jsonLine).join('') : textOfLines(tableLines(rows, columns))
  process.stdout.write(text)
}

/** Prints one result as a name and a value on each line, items of lists below each other, or with `--json` as one line of JSON. */
export function printRow(args: ParsedArgs, row: TableRow): void {
  const width = Math.max(...Object.keys(row).map((name) => columnTitle(name).length))
  const lines = Object.entries(row).flatMap(([name, value]) =>
    itemTexts(value).map((text, at) => `${(at === 0 ? columnTitle(name) : '').padEnd(width)}  ${text}\n`),
  )
  process.stdout.write(args.flags['json'] === true ? jsonLine(row) : lines.join(''))
}

const itemTexts = (value: unknown): string[] =>
  Array.isArray(value) && value.length > 0 ? value.map(cellText) : [cellText(value)]

const jsonLine = (row: TableRow) => `${JSON.stringify(row)}\n`

const textOfLines = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')

/** The lines of a table of these columns, its heading first. */
export function tableLines<Item extends TableRow>(
  rows: readonly Item[],
  columns: readonly ColumnOf<Item>[],
): string[] {
  const cells = [
    columns.map((name) => columnTitle(name).toUpperCase()),
    ...rows.map((row) => columns.map((name) => cellText(row[name]))),
  ]
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)))
  const lines = cells.map((line) => line.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
  return lines.map((line) => line.trimEnd())
}

/** "createDate" is "create date". */
const columnTitle = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** Characters that a terminal obeys, or that turn a text around: texts of others must not change what stands beside them. */
const controls = /[\p{Cc}\p{Bidi_Control}]/gu

/** A text of others without such characters. */
export const plainText = (text: string): string => text.replaceAll(controls, '\ufffd')

function cellText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object') return plainText(String(value))
  const parts = Array.isArray(value)
    ? value.map(cellText)
    : Object.entries(value).map(([name, member]) => `${columnTitle(name)} ${cellText(member)}`)
  return parts.length === 0 ? '-' : parts.join(', ')
}

/** A count with its noun, in the plural unless it is one. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : /s$/.test(noun) ? 'es' : 's'}`
