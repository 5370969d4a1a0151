import { spawn } from 'node:child_process'

type Watchdog = { dismiss: () => void }

// Its standard input closes when this process ends, however it ends; a word on it dismisses the watchdog.
const script = `
read -r word && exit 0
kill -"$2" "$1"
tries=0
while kill -0 "$1" 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
[ -z "$3" ] || rm -rf -- "$3"
`

/**
 * Starts a shell that survives a SIGKILL of this process, shuts its server down, and then deletes `discard` (a directory
 * with a unique name). Without it a crash would leave the server running until the next start.
 */
export function watch(pid: number, signal: 'INT' | 'QUIT', discard: string | undefined): Watchdog {
  if (process.platform === 'win32') return { dismiss: () => {} }
  const shell = spawn('/bin/sh', ['-c', script, 'bezant-watchdog', String(pid), signal, discard ?? ''], {
    cwd: '/',
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a shell there is no watchdog; the next start then ends processes left by a crash.
  shell.on('error', () => {})
  shell.stdin.on('error', () => {})
  shell.unref()
  return { dismiss: () => shell.stdin.end('dismissed\n') }
}
