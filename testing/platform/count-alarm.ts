import { type AlarmName, alarmCounts } from '#runtime/log/alarms'

/** Counts from here on how often this process raises an alarm. */
export function countAlarm(name: AlarmName): () => number {
  const before = alarmCounts().get(name)!
  return () => alarmCounts().get(name)! - before
}
