import { extname } from 'node:path'
import { parseScreenedAddress, type ScreeningChain, screeningChains } from '#chains/screening-chains'
import {
  addEntry,
  importList,
  ListProblem,
  type ListScope,
  type ListVersion,
  listedAddresses,
  listFormats,
  listHistory,
  presentLists,
  removeEntry,
  rollBackList,
} from '#engines/compliance/lists/index'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import { type Command, chooseAction, numberFlag, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { counted, jsonOption, printRow, printRows } from './table.ts'

export const screeningCommand: Command = {
  usage: `bezant screening lists
       bezant screening import FILE --list NAME [--format sdn-xml|sdn-csv|csv] [--skip-malformed]
       bezant screening add ADDRESS --chain CHAIN --list NAME [--reason TEXT]
       bezant screening remove ADDRESS --chain CHAIN --list NAME [--reason TEXT]
       bezant screening rollback --list NAME [--to VERSION] [--reason TEXT]
       bezant screening history --list NAME [--limit N]
       bezant screening report

The lists block and allow are your own; any other NAME is a list of sanctions. They apply to all
entities. import replaces a list by a file: SDN.XML (sdn-xml) or SDN.CSV (sdn-csv) of the United
States' sanctions, or a table with the columns chain, address and reference (csv). A file with any
mistake changes nothing. Each change is a version, which decisions see when it is complete; rollback
returns to the contents before. report shows the wallets, deposit addresses and recipients of all
entities that a list names at present.`,
  takesArguments: true,
  options: {
    list: { type: 'string', value: 'NAME', about: 'List.' },
    chain: { type: 'string', value: 'CHAIN', about: 'Chain of the address.' },
    format: { type: 'string', value: 'FORMAT', about: 'Format of the file. Default: by its ending.' },
    'skip-malformed': { type: 'boolean', about: 'Count malformed addresses instead of refusing the file.' },
    reason: { type: 'string', value: 'TEXT', about: 'Why the list changes, for its history.' },
    to: { type: 'string', value: 'VERSION', about: 'Version to return to.' },
    limit: { type: 'string', value: 'N', about: 'Maximum number of changes to show.', default: '20' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('screening', args, actions)
  await withDatabase(args, async (database) =>
    act({ database, clock: await readDatabaseClock(database), actor: 'operator' }, args),
  ).catch((error) => {
    throw error instanceof ListProblem ? new UsageError(error.message) : error
  })
  return 0
}

type ScreeningAction = (scope: ListScope, args: ParsedArgs) => Promise<void>

const changing =
  (change: typeof addEntry): ScreeningAction =>
  async (scope, args) => {
    const entry = addressOf(args)
    const list = listOf(args)
    printRow(args, shown(await change(scope, { list, entry, reason: textFlag(args, 'reason') })))
    await warnOfListed(scope, list)
  }

const actions: Record<string, ScreeningAction> = {
  lists: async ({ database }, args) =>
    printRows(args, await presentLists(database), ['list', 'kind', 'version', 'entries', 'createDate']),
  import: async (scope, args) => {
    const path = args.positionals[1]
    if (path === undefined) throw new UsageError('import needs a file\nSee: bezant screening --help')
    const made = await importList(scope, {
      list: listOf(args),
      path,
      format: formatOf(args, path),
      reason: textFlag(args, 'reason'),
      skipsMalformed: args.flags['skip-malformed'] === true,
    }).catch((error) => {
      throw error instanceof ListProblem ? new ListProblem(`${path}: ${error.message}`) : error
    })
    const { duplicates, malformed, unsupported } = made
    printRow(args, { ...shown(made), duplicates, malformed, unsupported })
    await warnOfListed(scope, made.list)
  },
  add: changing(addEntry),
  remove: changing(removeEntry),
  rollback: async (scope, args) => {
    const target = { list: listOf(args), to: numberFlag(args, 'to', 999_999_999) }
    printRow(args, shown(await rollBackList(scope, { ...target, reason: textFlag(args, 'reason') })))
    await warnOfListed(scope, target.list)
  },
  history: async ({ database }, args) => {
    const versions = await listHistory(database, listOf(args), numberFlag(args, 'limit', 1_000) ?? 20)
    printRows(args, versions, [
      ...(['createDate', 'version', 'change', 'contentsOf', 'entries', 'added'] as const),
      ...(['removed', 'source', 'reason', 'actor'] as const),
    ])
  },
  report: async ({ database }, args) =>
    printRows(args, await listedAddresses(database), [
      ...(['entityId', 'resource', 'id', 'chain', 'address', 'list', 'reference'] as const),
    ]),
}

/** Tells of customers' addresses that a changed list names. */
async function warnOfListed({ database }: ListScope, list: string): Promise<void> {
  const { length } = await listedAddresses(database, list)
  if (length > 0)
    process.stderr.write(
      `${list} names ${counted(length, 'address')} of customers. See: bezant screening report\n`,
    )
}

const shown = ({ list, version, change, contentsOf, entries, added, removed }: ListVersion) => ({
  list,
  version,
  change,
  contentsOf,
  entries,
  added,
  removed,
})

function listOf(args: ParsedArgs): string {
  const name = textFlag(args, 'list')
  if (name === undefined) throw new UsageError('--list is missing\nSee: bezant screening --help')
  return name
}

function addressOf(args: ParsedArgs) {
  const [action, text] = args.positionals
  const chain = textFlag(args, 'chain')
  if (text === undefined) throw new UsageError(`${action} needs an address\nSee: bezant screening --help`)
  if (!(screeningChains as readonly unknown[]).includes(chain))
    throw new UsageError(`--chain must be one of ${screeningChains.join(', ')}, not "${chain ?? ''}"`)
  const parsed = parseScreenedAddress(chain as ScreeningChain, text)
  if (!parsed) throw new UsageError(`"${text}" is no address of ${chain}`)
  return parsed
}

type Format = keyof typeof listFormats

function formatOf(args: ParsedArgs, path: string): Format {
  const named = textFlag(args, 'format') ?? (extname(path).toLowerCase() === '.xml' ? 'sdn-xml' : 'csv')
  if (Object.hasOwn(listFormats, named)) return named as Format
  throw new UsageError(`--format must be one of ${Object.keys(listFormats).join(', ')}, not "${named}"`)
}
