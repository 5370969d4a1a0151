import { until } from './until.ts'

/** Ends a process group, what a shell left in the background included, and waits until all of it is gone. */
export async function endGroup(leader: number): Promise<void> {
  if (!signalGroup(leader, 'SIGTERM')) return
  await until(() => !signalGroup(leader, 0), `the process group ${leader} is gone`)
}

/** False when none of its processes is left. */
function signalGroup(leader: number, signal: 'SIGTERM' | 0): boolean {
  try {
    return process.kill(-leader, signal)
  } catch {
    return false
  }
}
