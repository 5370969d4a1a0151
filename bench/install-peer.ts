import { execFileSync } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Run } from './run.ts'

/** Installs a program of another project once per machine, in the directory that the system cleans; returns its directory. */
export async function installPeer(run: Run, name: string, packages: readonly string[]): Promise<string> {
  const directory = join(tmpdir(), `bezant-bench-${name}`)
  // npm writes this file last.
  const done = join(directory, 'package-lock.json')
  const isThere = await access(done).then(
    () => true,
    () => false,
  )
  if (isThere) return directory
  run.report(`installing ${packages.join(', ')} into ${directory}`)
  await mkdir(directory, { recursive: true })
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', directory, ...packages], {
    stdio: 'ignore',
    shell: process.platform === 'win32',
  })
  return directory
}
