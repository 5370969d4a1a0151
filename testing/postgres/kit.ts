import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemCode } from '#lib/system-code'
import type { Owner } from '#sandbox/postgres/privileges'
import { programFile } from '#testing/processes/programs'
import type { ChildRequests, Reply } from './child.ts'

export type Child = {
  process: ChildProcess
  request: <Name extends keyof ChildRequests>(name: Name, input: ChildRequests[Name]) => Promise<Reply>
  acknowledged: string[]
}

const cleanups: (() => unknown)[] = []

/** Undoes the effects of the functions below, latest first. */
export async function cleanUp(): Promise<void> {
  for (const undo of cleanups.splice(0).reverse()) await undo()
}

export function temporaryDirectory(owner?: Owner): string {
  const path = mkdtempSync(join(tmpdir(), 'postgres-test-'))
  if (owner) chownSync(path, owner.uid, owner.gid)
  cleanups.push(() => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return path
}

/** Sets a separate temporary directory, and with it a cache, for this process and its children. */
export function ownTemporaryDirectory(): string {
  const before = process.env['TMPDIR']
  const path = temporaryDirectory()
  chmodSync(path, 0o1777)
  process.env['TMPDIR'] = path
  cleanups.push(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
  return path
}

/** Starts a process in a separate process group. */
export async function startChild(owner?: Owner): Promise<Child> {
  const child = fork(await programFile('postgres'), {
    execArgv: [],
    detached: true,
    ...(owner && { uid: owner.uid, gid: owner.gid }),
  })
  cleanups.push(() => kill(child))
  const waiting = new Map<number, (reply: Reply) => void>()
  const acknowledged: string[] = []
  child.on('message', (message: Reply | { acknowledged: string }) => {
    if ('acknowledged' in message) acknowledged.push(message.acknowledged)
    else waiting.get(message.id)?.(message)
  })
  await once(child, 'message')
  let count = 0
  const request: Child['request'] = (name, input) => {
    const id = ++count
    const reply = new Promise<Reply>((resolve) => waiting.set(id, resolve))
    child.send({ id, name, input })
    return reply
  }
  return { process: child, request, acknowledged }
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** The processes whose command line contains `text`, this one excepted. */
export function findPids(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      const found = readFileSync(join('/proc', name, 'cmdline'), 'utf8')
        .replaceAll('\0', ' ')
        .includes(text)
      return found ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/** Signals each process that still exists: the end of one may have ended the others. */
export function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids.filter(isRunning)) {
    try {
      process.kill(pid, name)
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error
    }
  }
}

/** Whether a process runs; one that has ended and only waits to be reaped does not. */
export function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}
