import { open } from 'node:fs/promises'
import { csvLine } from '#lib/csv'
import { type ParsedArgs, textFlag, UsageError } from '../command.ts'
import { throwNaming } from '../explain-error.ts'
import { counted } from '../table.ts'
import { type BatchRow, rowsOf } from './batch-answers.ts'

/** A column of the exported file, and its text of a row. */
const columns: Readonly<Record<string, (row: BatchRow) => string | undefined>> = {
  line: ({ row }) => String(row),
  state: ({ state }) => state,
  recipient: ({ recipientId, cells }) => recipientId ?? cells['recipient'],
  address: ({ address, cells }) => address ?? cells['address'],
  chain: ({ chain, cells }) => chain ?? cells['chain'],
  amount: ({ amount, cells }) => amount?.amount ?? cells['amount'],
  currency: ({ amount, cells }) => amount?.currency ?? cells['currency'],
  reference: ({ reference }) => reference,
  payout: ({ payout }) => payout?.id,
  payoutStatus: ({ payout }) => payout?.status,
  transactionHash: ({ payout }) => payout?.transactionHash,
  errorCode: ({ error, payout }) => payout?.errorCode ?? (error && String(error.code)),
  error: ({ error, problems }) =>
    error?.message ?? problems.map(({ column, message }) => `${column} ${message}`).join('; '),
}

/** Writes every row of a file of payouts with its payout: to a new file, or to standard output. */
export async function exportRows(args: ParsedArgs, id: string): Promise<number> {
  const isJson = args.flags['json'] === true
  const path = textFlag(args, 'output')
  let text = isJson ? '' : csvLine(Object.keys(columns))
  let count = 0
  for await (const row of rowsOf(args, id)) {
    count += 1
    text += isJson
      ? `${JSON.stringify(row)}\n`
      : csvLine(Object.values(columns).map((textOf) => textOf(row) ?? ''))
  }
  if (path === undefined) process.stdout.write(text)
  else {
    await writeNew(path, text)
    process.stderr.write(`${counted(count, 'row')} written to ${path}\n`)
  }
  return 0
}

/** Writes a file that must not exist yet. */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new UsageError(`${path} exists already: name a new file`)
    return throwNaming(path, error)
  })
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
