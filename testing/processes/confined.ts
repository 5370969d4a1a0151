/** Starts programs with as few rights as a service has: an own user, a file system to read, and a list of system calls. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#testing/runner/root'

export type Confined = {
  child: ChildProcess
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  said(): string
}

type Confinement = {
  command: readonly string[]
  /** All of its variables but PATH. */
  env: Readonly<Record<string, string>>
  /** The user and group, where tests run as root. */
  uid: number
  /** The directories that it may write. */
  writable: readonly string[]
  cwd: string
  /** The system calls that it may make; default: all. */
  calls?: readonly string[]
}

/** Whether this process may give others a user and a view of the file system. */
export const canConfine = (): boolean => {
  if (process.getuid?.() !== 0) return false
  try {
    execFileSync('unshare', ['--mount', 'mount', '-o', 'remount,bind,ro', '/', '/'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * Makes all that is mounted read-only, but for the first arguments up to `--` and the files of the kernel, of which those of
 * processes alone are left.
 */
const readOnly = `
while [ "$1" != -- ]; do mount --bind "$1" "$1"; writable="$writable $1 "; shift; done; shift
while read -r _ _ _ _ at _; do
  case "$writable" in *" $at "*) continue;; esac
  case "$at" in /proc|/proc/*|/sys|/sys/*|/dev|/dev/pts|/dev/mqueue) continue;; esac
  mount -o remount,bind,ro "$at" 2>/dev/null || true
done < /proc/self/mountinfo
mount -t proc -o subset=pid proc /proc 2>/dev/null || true
exec "$@"`

/** Allows listed system calls alone, and becomes the program: libseccomp is what systemd uses. */
const filtered = `
const [calls, ...command] = process.argv.slice(1)
const koffi = require(${JSON.stringify(join(root, 'node_modules/koffi'))})
const seccomp = koffi.load('libseccomp.so.2')
const numberOf = seccomp.func('int seccomp_syscall_resolve_name(const char *)')
const context = seccomp.func('void *seccomp_init(uint32_t)')(0x00050001)
const add = seccomp.func('int seccomp_rule_add_array(void *, uint32_t, int, uint, void *)')
for (const number of calls.split(',').map((name) => numberOf(name)))
  if (number >= 0 && add(context, 0x7fff0000, number, 0, null) !== 0) throw new Error('no rule for ' + number)
if (seccomp.func('int seccomp_load(void *)')(context) !== 0) throw new Error('the filter is refused')
const libc = koffi.load('libc.so.6')
// Node has its standard streams closed when another program takes its place (F_SETFD).
for (const stream of [0, 1, 2]) libc.func('int fcntl(int, int, int)')(stream, 2, 0)
libc.func('int execv(const char *, const char **)')(command[0], [...command, null])
throw new Error('no such program: ' + command[0])`

const hasSeccomp = () =>
  ['/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib'].some((folder) =>
    existsSync(join(folder, 'libseccomp.so.2')),
  )

/** Starts a program, confined as far as this machine lets a test. */
export function startConfined({ command, env, uid, writable, cwd, calls }: Confinement): Confined {
  const within =
    calls && hasSeccomp() ? [process.execPath, '-e', filtered, calls.join(','), ...command] : command
  const [program, ...args] = canConfine() ? confiningCommand(uid, writable, within) : within
  const path = process.env['PATH']!
  const child = spawn(program!, args, { cwd, env: { PATH: path, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => {
      said += chunk
    })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  )
  return { child, exited, said: () => said }
}

const confiningCommand = (uid: number, writable: readonly string[], command: readonly string[]) => [
  ...['unshare', '--mount', 'sh', '-c', readOnly, 'sh', ...writable, '--'],
  ...[
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${uid}`,
    '--clear-groups',
    '--inh-caps=-all',
    '--bounding-set=-all',
  ],
  ...['--no-new-privs', '--', ...command],
]

/** The names of the system calls that a filter of systemd lets through: sets are resolved, and those behind `~` are taken away. */
export function callsOf(filters: readonly string[]): string[] {
  const allowed = new Set<string>()
  for (const filter of filters) {
    const removes = filter.startsWith('~')
    for (const name of filter.replace('~', '').split(' ').flatMap(callsIn))
      if (removes) allowed.delete(name)
      else allowed.add(name)
  }
  return [...allowed]
}

function callsIn(name: string): string[] {
  if (!name.startsWith('@')) return [name]
  const listed = execFileSync('systemd-analyze', ['syscall-filter', '--no-pager', name], { encoding: 'utf8' })
  const names = listed.split('\n').flatMap((line) => /^ +([@a-z_]\S*)$/.exec(line)?.[1] ?? [])
  return names.flatMap(callsIn)
}
