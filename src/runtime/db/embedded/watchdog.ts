import { spawn } from 'node:child_process'

export type Watchdog = { dismiss: () => void }

// Its standard input ends when we do, however we end; a word on it means that there is nothing left to watch.
const script = `
read -r word && exit 0
kill -"$2" "$1"
tries=0
while kill -0 "$1" 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
[ -z "$3" ] || rm -rf -- "$3"
`

/**
 * A shell that outlives a SIGKILL of this process to shut its server down, and to delete `discard` (a directory
 * with a name never used again) afterwards. Without it a crash would leave the server running until the next start.
 */
export function watch(pid: number, signal: 'INT' | 'QUIT', discard: string | undefined): Watchdog {
  if (process.platform === 'win32') return { dismiss: () => {} }
  const shell = spawn('/bin/sh', ['-c', script, 'bezant-watchdog', String(pid), signal, discard ?? ''], {
    cwd: '/',
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a shell there is only no watchdog; the next start ends what a crash left.
  shell.on('error', () => {})
  shell.stdin.on('error', () => {})
  shell.unref()
  return { dismiss: () => shell.stdin.end('dismissed\n') }
}
