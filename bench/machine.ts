import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

export type Machine = {
  cores: number
  memoryGb: number
  platform: string
  node: string
  /** Cores kept busy by other processes right before the run: above a few tenths the figures are noisy. */
  coresBusyBefore: number
}

export async function describeMachine(): Promise<Machine> {
  const busy = measureBusyCores()
  await sleep(1_500)
  return {
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    coresBusyBefore: busy(),
  }
}

/** Starts counting; the returned function gives the mean number of busy cores of the whole machine since then. */
export function measureBusyCores(): () => number {
  const before = ticks()
  const startedMs = performance.now()
  return () => {
    const after = ticks()
    const elapsedMs = performance.now() - startedMs
    return (after - before) / elapsedMs
  }
}

/** Milliseconds of work of all cores since the machine was started. */
const ticks = (): number =>
  cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)

/** The version that a program reports, or "unknown". */
export function versionOf(program: string): string {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0]!.trim()
  } catch {
    return 'unknown'
  }
}
