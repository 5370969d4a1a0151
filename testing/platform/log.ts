import { createLog, type Log } from '#runtime/log/log'

/** The program's log as a test's output: the runner prints it with the test that failed, and drops it when all passed. */
export function testLog(level = 'error'): Log {
  return createLog(level, { write: (line) => console.error(line.trimEnd()) })
}
