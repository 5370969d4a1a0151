import { distributeTables } from '#runtime/db/distribute'
import { migrate } from '#runtime/db/migrate'
import type { Command } from './command.ts'
import { configOf, connectionOptions, connectionToMigrate } from './connection.ts'

export const migrateCommand: Command = {
  usage: 'bezant migrate [options]',
  options: {
    ...connectionOptions,
    distributed: {
      type: 'boolean',
      about:
        'Distribute the tables over the nodes of a PostgreSQL with Citus, and set roles, rights and settings on all nodes. Safe to repeat.',
    },
  },
  run: async (args) => {
    const say = (what: string) => process.stdout.write(`${what}\n`)
    const connection = await connectionToMigrate(configOf(args))
    const applied = await migrate(connection, say)
    say(applied.length > 0 ? `applied ${applied.join(', ')}` : 'no migrations to apply')
    if (!args.flags['distributed']) return 0
    const moved = await distributeTables(connection, say)
    say(moved.length > 0 ? `distributed ${moved.length} tables` : 'every table is distributed')
    return 0
  },
}
