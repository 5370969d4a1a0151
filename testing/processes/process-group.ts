import { until } from '#testing/platform/until'

/** Ends a process group, background processes of a shell included, and waits until all are gone. */
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
