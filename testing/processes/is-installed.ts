import { execFileSync } from 'node:child_process'

/** Whether a program is on this machine: it tells its version when it is asked in this way. */
export function isInstalled(program: string, ...asked: string[]): boolean {
  try {
    execFileSync(program, asked, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
