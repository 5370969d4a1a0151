import type { AlarmName } from '#runtime/log/alarms'

/** Alarms of a state, whose end the log tells. The others tell of an event, or are raised again for as long as they hold. */
const ending: readonly AlarmName[] = [
  'books-differ',
  'chain-unreachable',
  'clock-off',
  'database-full',
  'day-not-final',
  'endpoint-behind',
  'endpoint-refused',
  'journal-gone',
  'journal-unavailable',
  'journal-unmerged',
  'schema-newer',
  'session-stuck',
  'usdc-paymaster-low',
  'usdc-price-old',
]

type Raised = { process: string; name: string; blockchain: string | undefined; message: string }

/** Findings in the logs of all processes: alarms that hold, and lines that tell of trouble, counted by their text. */
export type LogWatch = ReturnType<typeof openLogWatch>

export function openLogWatch() {
  let raised: Raised[] = []
  const counts = new Map<string, number>()
  const troubles = new Map<string, number>()
  return {
    /** Number of times that each alarm was raised. */
    counts,
    troubles,
    read: (process: string, line: Record<string, unknown>) => {
      const { alarm, alarmOver, blockchain, level, msg } = line as Record<string, string | undefined>
      if (alarm) {
        counts.set(alarm, (counts.get(alarm) ?? 0) + 1)
        if (ending.some((name) => name === alarm))
          raised.push({ process, name: alarm, blockchain, message: String(msg) })
      } else if (Number(level) >= 40) troubles.set(String(msg), (troubles.get(String(msg)) ?? 0) + 1)
      // Another process than the one that raised it may find that the cause of an alarm is gone.
      if (alarmOver)
        raised = raised.filter((each) => each.name !== alarmOver || each.blockchain !== blockchain)
    },
    /** A process that ended has raised nothing, except what is kept in the database. */
    forget: (process: string) => {
      raised = raised.filter((each) => each.process !== process || each.name === 'books-differ')
    },
    raised: (): readonly Raised[] => raised,
  }
}
