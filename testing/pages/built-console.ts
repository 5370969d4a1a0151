import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { root } from '#testing/runner/root'

/** Builds the console of these sources, which takes no time where it is built already. */
export async function builtConsole(): Promise<void> {
  await promisify(execFile)(process.execPath, ['--import', 'tsx', 'scripts/build-console.ts'], { cwd: root })
}
