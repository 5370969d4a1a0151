import { migrate } from '#runtime/db/migrate'
import type { Command } from './command.ts'
import { configOf, connectionToMigrate, joinOptions } from './join.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  usage: 'bezant migrate [options]',
  options: joinOptions,
  run: async (given) => {
    const applied = await migrate(await connectionToMigrate(configOf(given)))
    process.stdout.write(applied.length > 0 ? `applied ${applied.join(', ')}\n` : 'nothing to apply\n')
    return 0
  },
}
