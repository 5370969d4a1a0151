import { migrate } from '#runtime/db/migrate'
import type { Command } from './command.ts'
import { configOf, connectionOptions, connectionToMigrate } from './connection.ts'

export const migrateCommand: Command = {
  usage: 'bezant migrate [options]',
  options: connectionOptions,
  run: async (args) => {
    const say = (what: string) => process.stdout.write(`${what}\n`)
    const applied = await migrate(await connectionToMigrate(configOf(args)), say)
    process.stdout.write(applied.length > 0 ? `applied ${applied.join(', ')}\n` : 'no migrations to apply\n')
    return 0
  },
}
