import { alarmWhile } from '../log/alarms.ts'
import { type Loop, logTrouble, repeat } from '../scheduling/loop.ts'
import type { Scope } from '../scope.ts'
import { unknownMigrations } from './migrate.ts'

const lookMs = 5_000

/**
 * Raises an alarm when a newer version migrates the database while this process runs, and reports the end. The process goes on:
 * stopping every server of the older version at once would be an outage, and most migrations leave it working.
 */
export function watchNewerSchema({ database, log }: Pick<Scope, 'database' | 'log'>): Loop {
  const report = alarmWhile(log, 'schema-newer', {
    begins: 'a newer version migrated the database of this process',
    ends: 'this process knows all migrations again',
  })
  const turn = async () => {
    const migrations = await unknownMigrations(database)
    report(migrations.length > 0 ? { migrations } : undefined)
    return false
  }
  return repeat(turn, logTrouble(log, 'comparing the migrations of the database'), lookMs)
}
