import { endAlarm, raiseAlarm } from '../log/alarms.ts'
import { type Loop, logTrouble, repeat } from '../loop.ts'
import type { Scope } from '../scope.ts'

const lookMs = 2_000

/** Raises an alarm when the database refuses to write because its volume is full, and reports the end. */
export function watchVolume({ database, log }: Pick<Scope, 'database' | 'log'>): Loop {
  let wasFull = false
  const turn = async () => {
    const said = database.fullVolume()
    if (said !== undefined && !wasFull)
      raiseAlarm(log, 'database-full', { said }, 'the volume of the database is full: nothing can be written')
    if (said === undefined && wasFull) endAlarm(log, 'database-full', {}, 'the database can be written again')
    wasFull = said !== undefined
    return false
  }
  return repeat(turn, logTrouble(log, 'watching the volume of the database'), lookMs)
}
