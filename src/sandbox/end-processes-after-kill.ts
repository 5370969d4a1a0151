import { spawn } from 'node:child_process'

/** Ends nodes and removes a directory when this process dies without having stopped them itself. */
type ProcessWatchdog = { watch(pids: readonly number[]): void; dismiss(): void }

/**
 * Each line replaces the list of pids; the end of input means that this process has ended. The directory is removed again
 * while a server of this process, which ends too, still writes into it.
 */
const script = `
while read -r line; do pids=$line; done
[ -z "$pids" ] || kill -9 $pids 2>/dev/null
[ -n "$1" ] || exit 0
tries=0
while ! rm -rf -- "$1" 2>/dev/null || [ -e "$1" ]; do
  tries=$((tries + 1)); [ $tries -lt 100 ] || exit 1; sleep 0.1
done
`

/**
 * Starts a watchdog, which outlives this process. Windows has no reliable shell, so no watchdog either: the next start ends the
 * nodes of a kept directory.
 */
export function startWatchdog(discard = ''): ProcessWatchdog {
  if (process.platform === 'win32') return { watch: () => {}, dismiss: () => {} }
  const child = spawn('/bin/sh', ['-c', script, 'bezant-watchdog', discard], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', () => {})
  child.stdin?.on('error', () => {})
  child.unref()
  const input = child.stdin as unknown as { unref?: () => void } | null
  input?.unref?.()
  return {
    watch: (pids) => void child.stdin?.write(`${pids.join(' ')}\n`),
    dismiss: () => {
      child.kill('SIGKILL')
    },
  }
}
