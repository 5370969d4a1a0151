import type { ParsedArgs } from '../command.ts'
import { printRow, printRows, type TableRow } from '../table.ts'

/** Prints JSON for programs: with `--json`, and wherever the output is no terminal. */
const forProgram = (args: ParsedArgs): ParsedArgs =>
  process.stdout.isTTY ? args : { ...args, flags: { ...args.flags, json: true } }

export const printList: typeof printRows = (args, rows, columns) => printRows(forProgram(args), rows, columns)

/** `shown` is the form for a terminal. */
export const printOne = (args: ParsedArgs, row: TableRow, shown: TableRow = row) => {
  const printed = forProgram(args)
  printRow(printed, printed.flags['json'] === true ? row : shown)
}
