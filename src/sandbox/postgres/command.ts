import { type ChildProcess, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { EmbeddedPostgresError } from './errors.ts'
import type { Owner } from './privileges.ts'

type ClusterCommand = {
  program: string
  args: string[]
  /** The working directory, and the cluster the program works on: see `here`. */
  cluster: string
  owner: Owner | undefined
}

/**
 * Returns the path by which a command names the cluster it is started in. PostgreSQL's user may lack access to a parent
 * of the cluster (such as root's home), but a process started inside it can always use this path.
 */
export function here(cluster: string, owner: Owner | undefined): string {
  return owner && process.platform === 'linux' ? '/proc/self/cwd' : cluster
}

/** Starts a program in its own session: a terminal's Ctrl-C reaches only this process, which then stops it in order. */
export function start(command: ClusterCommand, input: 'ignore' | 'pipe' = 'ignore'): Promise<ChildProcess> {
  const child = spawn(command.program, command.args, {
    cwd: command.cluster,
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: [input, 'pipe', 'pipe'],
    // Inherits no environment: PGDATA, LD_LIBRARY_PATH and the like would change the program's behaviour.
    env: { LC_ALL: 'C', TZ: 'UTC' },
    ...(command.owner && { uid: command.owner.uid, gid: command.owner.gid }),
  })
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child))
    child.once('error', (error) => {
      const as = command.owner ? ` as the user "${command.owner.name}"` : ''
      reject(
        new EmbeddedPostgresError(
          'START_FAILED',
          `${command.program} cannot be run${as}: ${error.message}.`,
          error,
        ),
      )
    })
  })
}

/** Runs a program to its end with `input` as its standard input; throws with its output when it fails. */
export async function run(command: ClusterCommand, input?: string): Promise<void> {
  const child = await start(command, input === undefined ? 'ignore' : 'pipe')
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code ?? 0))
  })
  child.stdin?.end(input)
  const [output, errors, status] = await Promise.all([text(child.stdout!), text(child.stderr!), ended])
  if (status === 0) return
  throw new EmbeddedPostgresError(
    'START_FAILED',
    `${command.program} failed (${status}): ${`${output}\n${errors}`.trim().slice(-2000)}`,
  )
}
