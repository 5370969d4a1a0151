import { alarmWhile } from '../log/alarms.ts'
import { type Loop, logTrouble, repeat } from '../scheduling/loop.ts'
import type { Scope } from '../scope.ts'

const lookMs = 2_000

/** Raises an alarm when the database refuses to write because its volume is full, and reports the end. */
export function watchVolume({ database, log }: Pick<Scope, 'database' | 'log'>): Loop {
  const report = alarmWhile(log, 'database-full', {
    begins: 'the volume of the database is full: nothing can be written',
    ends: 'the database can be written again',
  })
  const turn = async () => {
    const said = database.fullVolume()
    report(said === undefined ? undefined : { said })
    return false
  }
  return repeat(turn, logTrouble(log, 'watching the volume of the database'), lookMs)
}
