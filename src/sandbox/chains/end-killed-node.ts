import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** The record of a started node, for the next process if this one is killed. The port is used again when it is free. */
export type NodeRecord = { pid: number; port: number }

const pollMs = 10

export function readRecord(directory: string): NodeRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, 'node.json'), 'utf8')) as NodeRecord
  } catch {
    return undefined
  }
}

export function writeRecord(directory: string, record: NodeRecord): void {
  const path = join(directory, 'node.json')
  writeFileSync(`${path}.tmp`, JSON.stringify(record))
  renameSync(`${path}.tmp`, path)
}

/**
 * Ends the node that a killed process left running; its journal has all that it was sent. `marker` is a path from the
 * node's command line, so that a reused pid never affects another program.
 */
export async function endLeftover({ pid }: NodeRecord, marker: string): Promise<void> {
  if (!commandOf(pid).includes(marker)) return
  signal(pid, 'SIGKILL')
  while (isRunning(pid)) await delay(pollMs)
}

/** Whether a process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  return signal(pid, 0) && !/^State:\s+Z/m.test(statusOf(pid))
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

/** Returns the command line of a process; empty when there is no process or this platform does not show it. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    if (process.platform === 'linux' || process.platform === 'win32') return ''
  }
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return ''
  }
}
