import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Connection } from '#runtime/db/db'
import type { FailpointPlan } from '#runtime/scheduling/failpoints'
import type { WorkerAnswer, WorkerCommand, WorkerOptions } from './worker-process.ts'

/** The handle of a worker process. Requests to a dead one reject. */
export type Worker = {
  pid: number
  /** Connects to a database and a chain. */
  open(options: WorkerOptions): Promise<void>
  /** Starts its roles; returns the address of its API, if it has one. */
  start(): Promise<string | undefined>
  arm(failpoint: FailpointPlan | undefined): Promise<void>
  /** Forces collections of garbage. */
  collect(): Promise<void>
  /** Ends the work under way; the process waits to be opened again. */
  close(): Promise<void>
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void
  /** State of the process: frozen means stopped by a signal. */
  state(): 'running' | 'frozen' | 'dead'
  /** The text that its log has written so far. */
  logged(): string
  exited: Promise<void>
  /** Whether it ended without being killed, which is a defect. */
  failed(): boolean
}

/** Starts `node` with the compiled worker among `args`, and resolves when it has loaded everything and waits for orders. */
export async function startWorker(args: readonly string[]): Promise<Worker> {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let logged = ''
  child.stderr.on('data', (text: Buffer) => {
    logged += text.toString()
    console.error(text.toString())
  })
  child.stdin.on('error', () => undefined)
  const exited = once(child, 'exit').then(() => undefined)
  const waiting: { resolve(answer: WorkerAnswer): void; reject(error: Error): void }[] = []
  const next = () => new Promise<WorkerAnswer>((resolve, reject) => waiting.push({ resolve, reject }))
  createInterface(child.stdout).on('line', (line) =>
    waiting.shift()?.resolve(JSON.parse(line) as WorkerAnswer),
  )
  void exited.then(() => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`worker ${child.pid} is dead`))
  })
  const loaded = next()
  const order = (given: WorkerCommand): Promise<WorkerAnswer> => {
    if (isDead(child)) return Promise.reject(new Error(`worker ${child.pid} is dead`))
    const answered = next()
    child.stdin.write(`${JSON.stringify(given)}\n`)
    return answered
  }
  await loaded
  return {
    pid: child.pid!,
    open: async (options) =>
      void (await order({ say: 'open', options: { dataDir: dataDirOf(options.connection), ...options } })),
    start: async () => (await order({ say: 'start' })).url,
    arm: async (failpoint) => void (await order({ say: 'arm', failpoint })),
    collect: async () => void (await order({ say: 'collect' })),
    close: async () => void (await order({ say: 'close' })),
    signal: (name) => void child.kill(name),
    logged: () => logged,
    state: () => (isDead(child) ? 'dead' : isFrozen(child.pid!) ? 'frozen' : 'running'),
    exited,
    failed: () => child.exitCode !== null,
  }
}

let home: string | undefined

/** The data directory of all workers on one database, which thereby share journals; other databases have another one. */
function dataDirOf(connection: Connection): string {
  if (home === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'bezant-workers-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    home = made
  }
  return join(home, 'url' in connection ? new URL(connection.url).pathname.slice(1) : connection.database)
}

const isDead = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/**
 * Whether the process is stopped, by its entry in /proc; without /proc no process counts as frozen, and tests rely on
 * elapsed time.
 */
function isFrozen(pid: number): boolean {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return false
  return readFileSync(path, 'utf8').split(') ').at(-1)!.startsWith('T')
}
