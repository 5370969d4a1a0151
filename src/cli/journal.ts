import { listWorkerJournals, loseWorkerJournal, mergeWorkerJournal } from '#engines/transactions/index'
import { readDatabaseClock } from '#runtime/db/clock'
import { type Database, openDatabase } from '#runtime/db/db'
import { type Command, type Given, textOf, UsageError } from './command.ts'
import { connected } from './connected.ts'
import { configOf, connectionOf, joinOptions } from './join.ts'
import { jsonOption, printRow, printRows } from './table.ts'

export const journalCommand: Command = {
  name: 'journal',
  usage: `bezant journal list
       bezant journal merge DIR
       bezant journal declare-lost --journal ID

After an older copy of the database was restored nothing is signed until every journal is merged.
Workers merge the ones of their own machine when they start. Bring those of machines that are gone
here, and merge them. Declare a journal lost only when it cannot be found: what was sent by its
worker after the copy was made is sent again, unless you look at the chain and cancel it first.`,
  positionals: 'ACTION',
  options: {
    journal: { type: 'string', value: 'ID', about: 'The journal to give up, as `list` shows it.' },
    ...jsonOption,
    ...joinOptions,
  },
  run,
}

type JournalAction = (given: Given, rest: readonly string[]) => Promise<number>

async function run(given: Given): Promise<number> {
  const [action, ...rest] = given.positionals
  const act = action === undefined ? undefined : actions[action]
  if (!act)
    throw new UsageError(`say what to do: ${Object.keys(actions).join(', ')}\nSee: bezant journal --help`)
  return act(given, rest)
}

const actions: Record<string, JournalAction> = {
  list: (given) =>
    withDatabase(given, async (database) => {
      const journals = (await listWorkerJournals(database)).map(({ headHash, ...journal }) => ({
        ...journal,
        headHash: headHash.toString('hex'),
      }))
      printRows(given, journals, ['id', 'host', 'path', 'state', 'awaited', 'sequence', 'updateDate'])
      return 0
    }),
  merge: async (given, [directory]) => {
    if (directory === undefined)
      throw new UsageError("say which directory: the one with the journal's name\nSee: bezant journal --help")
    const merged = await connected(given, (ctx) => mergeWorkerJournal(ctx, directory))
    printRow(given, { merged: directory, ...merged })
    return 0
  },
  'declare-lost': (given) =>
    withDatabase(given, async (database) => {
      const id = textOf(given, 'journal')
      if (!id) throw new UsageError('--journal is missing\nSee: bezant journal --help')
      const nowMs = (await readDatabaseClock(database)).nowMs()
      if (!(await loseWorkerJournal(database, nowMs, id)))
        throw new UsageError(`there is no journal ${id} to give up: see bezant journal list`)
      printRow(given, { lost: id })
      return 0
    }),
}

async function withDatabase(given: Given, work: (database: Database) => Promise<number>): Promise<number> {
  const database = openDatabase(await connectionOf(configOf(given)), 2)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
