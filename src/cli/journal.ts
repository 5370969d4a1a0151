import {
  declareJournalLost,
  listWorkerJournals,
  mergeWorkerJournal,
} from '#engines/transactions/journal/index'
import { journaledResources } from '#engines/treasury/index'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import { type Command, chooseAction, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { jsonOption, printRow, printRows } from './table.ts'
import { withContext } from './with-context.ts'

export const journalCommand: Command = {
  usage: `bezant journal list
       bezant journal merge DIR
       bezant journal declare-lost --journal ID

Workers record each signed transaction in a journal on their own disk before they send it. After an
older copy of the database was restored, nothing is signed until every journal is merged: workers
merge those of their own machine when they start.

  list          shows the journals and their machines; AWAITED marks those that still have to be merged.
  merge         merges the journal in DIR, which you copied from a machine that is gone.
  declare-lost  gives up a journal that cannot be found. Transactions that its worker sent after
                the copy was made are sent again: look for them on the chain first.`,
  takesArguments: true,
  options: {
    journal: { type: 'string', value: 'ID', about: 'Id of the lost journal, as list shows it.' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

type JournalAction = (args: ParsedArgs) => Promise<number>

async function run(args: ParsedArgs): Promise<number> {
  return chooseAction('journal', args, actions)(args)
}

const actions: Record<string, JournalAction> = {
  list: (args) =>
    withDatabase(args, async (database) => {
      const journals = (await listWorkerJournals(database)).map(({ headHash, ...journal }) => ({
        ...journal,
        headHash: headHash.toString('hex'),
      }))
      printRows(args, journals, ['id', 'host', 'path', 'state', 'awaited', 'sequence', 'updateDate'])
      return 0
    }),
  merge: async (args) => {
    const [, directory] = args.positionals
    if (directory === undefined)
      throw new UsageError('name the directory of the journal\nSee: bezant journal --help')
    const merged = await withContext(args, (ctx) => mergeWorkerJournal(ctx, journaledResources, directory))
    printRow(args, { merged: directory, ...merged })
    return 0
  },
  'declare-lost': (args) =>
    withDatabase(args, async (database) => {
      const id = textFlag(args, 'journal')
      if (!id) throw new UsageError('--journal is missing\nSee: bezant journal --help')
      const nowMs = (await readDatabaseClock(database)).nowMs()
      if (!(await declareJournalLost(database, nowMs, id)))
        throw new UsageError(`no journal ${id} can be declared lost: see bezant journal list`)
      printRow(args, { lost: id })
      return 0
    }),
}
