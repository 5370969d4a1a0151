import type { ParsedArgs } from '../command.ts'
import { printRow, printRows } from '../table.ts'

/** Prints JSON for programs: with `--json`, and wherever the output is no terminal. */
const forProgram = (args: ParsedArgs): ParsedArgs =>
  process.stdout.isTTY ? args : { ...args, flags: { ...args.flags, json: true } }

export const printList: typeof printRows = (args, rows, columns) => printRows(forProgram(args), rows, columns)
export const printOne: typeof printRow = (args, row) => printRow(forProgram(args), row)
