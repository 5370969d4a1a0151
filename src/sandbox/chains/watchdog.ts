import { spawn } from 'node:child_process'

/** Ends nodes and removes a directory when this process dies without having stopped them itself. */
export type NodeWatchdog = { watch(pids: readonly number[]): void; dismiss(): void }

/** Each line replaces the list of pids; the end of input means that this process has ended. */
const script = 'while read -r line; do pids=$line; done; [ -n "$pids" ] && kill -9 $pids; rm -rf "$1"'

/** Starts a watchdog for chains without a directory of their own. Windows has no reliable shell, so no watchdog either. */
export function startWatchdog(directory: string): NodeWatchdog {
  if (process.platform === 'win32') return { watch: () => {}, dismiss: () => {} }
  const stdio = ['pipe', 'ignore', 'ignore'] as const
  const child = spawn('/bin/sh', ['-c', script, 'sh', directory], { detached: true, stdio: [...stdio] })
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
