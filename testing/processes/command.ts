import { vi } from 'vitest'
import { runCommandLine } from '#cli/command-line'
import type { ProgramOptions } from './program.ts'

const signals = ['SIGTERM', 'SIGINT'] as const

/**
 * Runs a command to its end in the process of the test, for a hundredth of the time that `runProgram` takes. Lines of the
 * log are not part of its output, and a command that serves must be refused before it opens anything.
 */
export async function runCommand({ command, args = [], dataDir, env = {} }: CommandOptions) {
  const output = { stdout: '', stderr: '' }
  const captured = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      output[name] += text
      return true
    }),
  )
  for (const [name, value] of Object.entries({ DATABASE_URL: undefined, ...env })) vi.stubEnv(name, value)
  const listeners = signals.map((name) => process.listeners(name))
  try {
    const flags = dataDir === undefined ? [] : ['--data-dir', dataDir]
    return { code: await runCommandLine([command, ...flags, ...args]), ...output }
  } finally {
    for (const [index, name] of signals.entries())
      for (const listener of process.listeners(name))
        if (!listeners[index]!.includes(listener)) process.off(name, listener)
    for (const spy of captured) spy.mockRestore()
    vi.unstubAllEnvs()
  }
}

type CommandOptions = Pick<ProgramOptions, 'dataDir' | 'env'> & { command: string; args?: readonly string[] }
