import { until } from '#testing/platform/until'
import { spawnProgram } from './program.ts'

/** A line that `bezant listen` prints: the first says who listens, each later one is a delivery. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into lines of every shape
export type ListenLine = any

/** `bezant listen` in a process of its own, of the sandbox at this address. */
export type Listening = Awaited<ReturnType<typeof startListening>>

/** Starts the command, and waits until it listens. */
export async function startListening(url: string, ...args: string[]) {
  const { child, exited, stdout, stderr } = await spawnProgram({
    command: 'listen',
    args: ['--url', url, ...args],
  })
  const lines = (): ListenLine[] =>
    stdout()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  await until(
    () => lines().length > 0 || child.exitCode !== null,
    `bezant listen has begun, or says why not: ${stderr()}`,
  )
  return {
    started: lines()[0],
    deliveries: () => lines().slice(1),
    stderr,
    exited,
    end: async (signal: NodeJS.Signals = 'SIGTERM') => {
      child.kill(signal)
      return exited
    },
  }
}
