import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { payoutBatchStates } from '#engines/treasury/payout-batches/index'
import { isUuid } from '#lib/ids'
import { ServerAway, serverOptions } from '../ask-server.ts'
import { type Command, chooseAction, type ParsedArgs, textFlag, UsageError } from '../command.ts'
import { stateOf } from '../entity-scope.ts'
import { throwNaming } from '../explain-error.ts'
import { askAsOperator } from '../operator-client.ts'
import { jsonOption, printRow, printRows } from '../table.ts'
import {
  type BatchRow,
  batchesPath,
  batchPath,
  type PayoutFile,
  rowsOf,
  type WholeFile,
} from './batch-answers.ts'
import { exportRows } from './export-rows.ts'

export const payoutsCommand: Command = {
  usage: `bezant payouts upload FILE [--name TEXT] [--senders FILE] [--purpose CODE] [--idempotency-key KEY]
       bezant payouts list [--state previewed|approved|complete|cancelled]
       bezant payouts preview ID
       bezant payouts approve ID --hash HASH
       bezant payouts status ID
       bezant payouts cancel ID
       bezant payouts export ID [--output FILE]

Pays the recipients of the address book that a CSV file names. upload reads and checks the file, and
pays nothing: it prints the sums, and what is wrong with each row, by line and column. preview prints
the same again. approve pays every row of the contents whose hash upload and preview printed. status
counts what became payouts, and lists the rows that failed. cancel ends a file: rows that are no
payouts yet become none. export writes every row with its payout, as CSV or with --json as lines of
JSON. The exit code of upload and preview is 1 while a row has an error, that of status while one failed.

It asks a running server, with the API key in BEZANT_API_KEY, which needs the scope operator:read and,
to upload, approve and cancel, operator:write; without a key with the public key of a sandbox.`,
  takesArguments: true,
  options: {
    name: {
      type: 'string',
      value: 'TEXT',
      about: 'What the payouts are for. Default: the name of the file.',
    },
    senders: { type: 'string', value: 'FILE', about: 'JSON list of the senders, for the travel rule.' },
    purpose: { type: 'string', value: 'CODE', about: 'Payment reason code of all payouts, such as PMT008.' },
    'idempotency-key': {
      type: 'string',
      value: 'KEY',
      about: 'UUID: an upload whose answer was lost is repeated with the same one.',
    },
    hash: { type: 'string', value: 'HASH', about: 'The contentHash that you looked at.' },
    state: { type: 'string', value: 'STATE', about: 'State of the files.' },
    output: { type: 'string', value: 'FILE', about: 'New file to write; by default standard output.' },
    ...jsonOption,
    ...serverOptions,
  },
  run: async (args) => chooseAction('payouts', args, actions)(args),
}

const actions: Record<string, (args: ParsedArgs) => Promise<number>> = {
  upload: async (args) => preview(args, await upload(args)),
  list: async (args) => {
    const state = stateOf(args, payoutBatchStates)
    const query = `?pageSize=50${state ? `&state=${state}` : ''}`
    const { data } = await askAsOperator<PayoutFile[]>(args, { path: batchesPath + query })
    printRows(args, data, ['createDate', 'id', 'name', 'state', 'rowCount', 'createdCount', 'failedCount'])
    return 0
  },
  preview: async (args) =>
    preview(args, (await askAsOperator<WholeFile>(args, { path: batchPath(idOf(args)) })).data),
  approve: async (args) => {
    const path = `${batchPath(idOf(args))}/approve`
    const contentHash = hashOf(args)
    const approved = await askAsOperator<PayoutFile>(args, { method: 'POST', path, body: { contentHash } })
    printRow(args, shortened(approved.data))
    return 0
  },
  status,
  cancel: async (args) => {
    const path = `${batchPath(idOf(args))}/cancel`
    printRow(args, shortened((await askAsOperator<PayoutFile>(args, { method: 'POST', path })).data))
    return 0
  },
  export: async (args) => exportRows(args, idOf(args)),
}

function idOf({ positionals: [action, id] }: ParsedArgs): string {
  if (id !== undefined && isUuid(id)) return id
  throw new UsageError(
    `${action} needs the id of a file of payouts: bezant payouts list shows them\nSee: bezant payouts --help`,
  )
}

function hashOf(args: ParsedArgs): string {
  const hash = textFlag(args, 'hash')
  if (hash !== undefined && /^[0-9a-f]{64}$/.test(hash)) return hash
  const problem =
    hash === undefined ? '--hash is missing' : `--hash must be 64 hexadecimal digits, not "${hash}"`
  throw new UsageError(`${problem}: bezant payouts preview shows the contentHash\nSee: bezant payouts --help`)
}

async function upload(args: ParsedArgs): Promise<WholeFile> {
  const path = args.positionals[1]
  if (path === undefined) throw new UsageError('upload needs a file\nSee: bezant payouts --help')
  const purposeOfTransfer = textFlag(args, 'purpose')
  const senders = textFlag(args, 'senders')
  const body = {
    idempotencyKey: textFlag(args, 'idempotency-key') ?? randomUUID(),
    name: textFlag(args, 'name') ?? basename(path),
    csv: await textOf(path),
    ...(purposeOfTransfer !== undefined && { purposeOfTransfer }),
    ...(senders !== undefined && { identities: jsonIn(senders, await textOf(senders)) }),
  }
  try {
    return (await askAsOperator<WholeFile>(args, { method: 'POST', path: batchesPath, body })).data
  } catch (error) {
    throw inWordsOf(path, body.idempotencyKey, error as Error)
  }
}

/** Names the file in place of the field that holds it, and the option in place of the member. */
function inWordsOf(path: string, idempotencyKey: string, error: Error): Error {
  if (error instanceof ServerAway)
    return new ServerAway(
      error.message.replace('the same idempotencyKey', `--idempotency-key ${idempotencyKey}`),
    )
  error.message = error.message
    .replace(/\bcsv (?=\w)/, `${path} `)
    .replace(/\bpurposeOfTransfer\b/g, '--purpose')
    .replace(/\bidentities\b/g, '--senders')
  return error
}

const textOf = async (path: string) =>
  (await readFile(path).catch((error) => throwNaming(path, error))).toString('utf8')

function jsonIn(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as Error).message}`)
  }
}

/** Prints a file with its sums and then what is wrong with its rows. */
async function preview(args: ParsedArgs, file: WholeFile): Promise<number> {
  const { totals, funds, fees, ...rest } = file
  printRow(args, args.flags['json'] === true ? file : { ...shortened(rest), totals, funds, fees })
  const problems = file.errorCount + file.warningCount > 0 ? await problemsOf(args, file.id) : []
  if (problems.length > 0) printRows(args, problems, ['line', 'column', 'severity', 'message'])
  if (file.errorCount > 0) {
    process.stderr.write('Nothing of this file can be paid: correct these rows, and upload it again.\n')
    return 1
  }
  if (file.state === 'previewed')
    process.stderr.write(`To pay it: bezant payouts approve ${file.id} --hash ${file.contentHash}\n`)
  return 0
}

async function problemsOf(args: ParsedArgs, id: string) {
  const rows: BatchRow[] = []
  for await (const row of rowsOf(args, id, '&hasProblem=true')) rows.push(row)
  return rows.flatMap(({ row: line, problems }) => problems.map((problem) => ({ line, ...problem })))
}

/** Prints what became of the rows of a file, and which of them failed, themselves or as payouts. */
async function status(args: ParsedArgs): Promise<number> {
  const id = idOf(args)
  const {
    totals: _,
    funds: __,
    fees: ___,
    ...file
  } = (await askAsOperator<WholeFile>(args, { path: batchPath(id) })).data
  const payouts = { pending: 0, complete: 0, failed: 0 }
  const failed = []
  for await (const { row: line, reference, amount, error, payout } of rowsOf(args, id)) {
    if (payout) payouts[payout.status] += 1
    const reason = error?.message ?? (payout?.status === 'failed' ? payout.errorCode : undefined)
    if (reason !== undefined) failed.push({ line, reference, amount, payout: payout?.id, reason })
  }
  printRow(args, { ...(args.flags['json'] === true ? file : shortened(file)), payouts })
  if (failed.length > 0) printRows(args, failed, ['line', 'reference', 'amount', 'payout', 'reason'])
  return failed.length > 0 ? 1 : 0
}

/** Without members that a terminal has no use for. */
const shortened = ({ hasSenders: _, updateDate: __, ...file }: PayoutFile) => file
