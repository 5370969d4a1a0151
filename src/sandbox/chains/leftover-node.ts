import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { answering, type LocalNode } from './node.ts'

/** The record of a started node, for the next process if this one is killed. */
export type NodeRecord = {
  pid: number
  port: number
  chainId: number
  /** Whether it had the complete persisted state: a node with a partial state cannot be adopted. */
  isReady: boolean
}

const adoptTimeoutMs = 1500
const pollMs = 100

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
 * Returns the node that an earlier process left running, if it is ours, was ready and answers; ends it otherwise. `marker`
 * is a path from its command line, so that a reused pid never affects another program.
 */
export async function adoptOrEnd(
  record: NodeRecord | undefined,
  marker: string,
): Promise<LocalNode | undefined> {
  if (!record || !commandOf(record.pid).includes(marker)) return undefined
  const node = adopted(record)
  if (record.isReady && (await answersSoon(node, record.chainId))) return node
  await node.end(0)
  return undefined
}

function answersSoon(node: LocalNode, chainId: number): Promise<boolean> {
  const aborted = new AbortController()
  const answered = answering(node.url, chainId, aborted.signal).then(
    () => !aborted.signal.aborted,
    () => false,
  )
  const late = delay(adoptTimeoutMs, false, { ref: false })
  return Promise.race([answered, late]).finally(() => aborted.abort())
}

function adopted({ pid, port }: NodeRecord): LocalNode {
  let isEnded = false
  const exited = (async () => {
    while (isRunning(pid)) await delay(pollMs, undefined, { ref: false })
    isEnded = true
    return 'the adopted process is gone'
  })()
  const end = async (graceMs: number) => {
    if (isEnded) return
    signal(pid, graceMs > 0 ? 'SIGTERM' : 'SIGKILL')
    for (let waitedMs = 0; isRunning(pid); waitedMs += 10) {
      if (waitedMs >= graceMs) signal(pid, 'SIGKILL')
      await delay(10)
    }
  }
  return { pid, url: `http://127.0.0.1:${port}`, exited, end }
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
